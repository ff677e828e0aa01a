#include "base/bytes.h"

#include "tests/support/catch.h"

namespace thinkd {

TEST_CASE("what is written reads back") {
  const std::vector<uint32_t> items = {1, 2, 3};
  ByteWriter writer;
  writer.write(uint8_t{7}).write(uint64_t{1} << 40).write(1.5).sized_text("ab");
  writer.array(std::span<const uint32_t>(items));
  CHECK(writer.bytes().size() == 1 + 8 + 8 + 4 + 2 + 4 + 12);
  CHECK(writer.bytes().substr(1, 8) == std::string("\0\0\0\0\0\1\0\0", 8));
  ByteReader reader(writer.bytes());
  CHECK(reader.read<uint8_t>() == 7);
  CHECK(reader.read<uint64_t>() == uint64_t{1} << 40);
  CHECK(reader.read<double>() == 1.5);
  CHECK(reader.sized_text() == "ab");
  CHECK(reader.array<uint32_t>() == items);
  CHECK(reader.done());
}

TEST_CASE("past the end is zero and stays failed") {
  ByteReader reader(std::string_view("\1\2\3"));
  CHECK(reader.read<uint32_t>() == 0);
  CHECK(reader.failed());
  CHECK(reader.read<uint8_t>() == 0);
  CHECK_FALSE(reader.done());

  ByteReader lying(
      std::string_view("\xff\xff\xff\xff"
                       "abcd",
                       8));
  CHECK(lying.array<uint64_t>().empty());
  CHECK(lying.failed());
}

TEST_CASE("arithmetic on sizes does not wrap") {
  CHECK(checked_add(UINT64_MAX, 0) == UINT64_MAX);
  CHECK_FALSE(checked_add(UINT64_MAX, 1));
  CHECK(checked_mul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1));
  CHECK_FALSE(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32));
}

}  // namespace thinkd
