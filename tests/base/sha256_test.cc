#include "base/sha256.h"

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd {

TEST_CASE("SHA-256 gives the published digests") {  // FIPS 180-4 examples
  CHECK(hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex(sha256(std::string(1'000'000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces hash like the whole, numbers little-endian") {
  const Sha256Digest pieces = Sha256().add("a").add("bc").digest();
  CHECK(pieces == sha256("abc"));
  using std::string_literals::operator""s;
  CHECK(Sha256().add_u32(0x04030201).add_u64(0x0807060504030201).digest() ==
        sha256("\1\2\3\4\1\2\3\4\5\6\7\10"s));
  CHECK(Sha256().add_text("ab").add_text("").digest() == sha256("\2\0\0\0ab\0\0\0\0"s));
}

TEST_CASE("a file hashes like its bytes; a missing one is an error") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("abc");
  REQUIRE(write_file(path, "abc").ok());
  const Result<Sha256Digest> digest = sha256_file(path);
  REQUIRE(digest.ok());
  CHECK(*digest == sha256("abc"));
  CHECK(sha256_file(scratch.path("missing")).status().code() == Code::not_found);
}

}  // namespace thinkd
