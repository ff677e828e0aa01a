#include "engine/model/gguf.h"

#include <filesystem>
#include <functional>

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::engine {
namespace {

using testing::GgufWriter;

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thinkd-gguf-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Result<GgufFile> open_bytes(const std::string& bytes) {
  const Folder folder;
  REQUIRE(write_file(folder.file("m.gguf"), bytes).ok());
  return GgufFile::open(folder.file("m.gguf"));
}

// The error of a file that must not open; it has to hold each of `parts`.
void refuse(const std::string& bytes, Code code, const std::vector<std::string>& parts) {
  const Result<GgufFile> file = open_bytes(bytes);
  REQUIRE_FALSE(file.ok());
  CHECK(file.status().code() == code);
  for (const std::string& part : parts) {
    CHECK_THAT(file.status().message(), Contains(part));
  }
}

std::string floats(size_t count) { return std::string(4 * count, '\0'); }

TEST_CASE("every kind of key is read back") {
  GgufWriter writer;
  writer.key("a.u8", GgufWriter::u8, uint8_t{200})
      .key("a.i8", GgufWriter::i8, int8_t{-3})
      .key("a.u16", GgufWriter::u16, uint16_t{60'000})
      .key("a.i16", GgufWriter::i16, int16_t{7})
      .key_u32("a.u32", 4'000'000'000)
      .key("a.i32", GgufWriter::i32, int32_t{5})
      .key("a.u64", GgufWriter::u64, uint64_t{1} << 63)
      .key("a.i64", GgufWriter::i64, int64_t{9})
      .key_f32("a.f32", 0.25f)
      .key("a.f64", GgufWriter::f64, 1e-300)
      .key_bool("a.bool", true)
      .key_text("a.text", "caf\xc3\xa9")
      .key_texts("a.texts", {"", "x", "yz"})
      .key_ints("a.ints", {-1, 0, 5});
  const Result<GgufFile> file = open_bytes(writer.bytes());
  REQUIRE(file.ok());
  CHECK(file->version() == 3);
  CHECK(*file->get_uint("a.u8") == 200);
  CHECK(*file->get_uint("a.u16") == 60'000);
  CHECK(*file->get_uint("a.i16") == 7);
  CHECK(*file->get_uint("a.u32") == 4'000'000'000);
  CHECK(*file->get_uint("a.u64") == uint64_t{1} << 63);
  CHECK(*file->get_uint("a.i64") == 9);
  CHECK(*file->get_float("a.f32") == 0.25);
  CHECK(*file->get_float("a.f64") == 1e-300);
  CHECK(*file->get_bool("a.bool"));
  CHECK(*file->get_text("a.text") == "caf\xc3\xa9");
  CHECK(*file->get_texts("a.texts") == std::vector<std::string>{"", "x", "yz"});
  CHECK(*file->get_ints("a.ints") == std::vector<int64_t>{-1, 0, 5});
  CHECK(file->has("a.u8"));
  CHECK_FALSE(file->has("a.none"));

  CHECK_THAT(file->get_uint("a.i8").status().message(), Contains("'a.i8'") && Contains("-3"));
  CHECK_THAT(file->get_uint("a.none").status().message(),
             Contains("'a.none'") && Contains("missing"));
  CHECK_THAT(file->get_uint("a.f32").status().message(), Contains("f32, not an integer"));
  CHECK_FALSE(file->get_uint("a.bool").ok());
  CHECK_FALSE(file->get_float("a.u8").ok());
  CHECK_FALSE(file->get_bool("a.u8").ok());
  CHECK_THAT(file->get_text("a.texts").status().message(), Contains("array, not a string"));
  CHECK_FALSE(file->get_texts("a.ints").ok());
  CHECK_FALSE(file->get_ints("a.texts").ok());
  CHECK_FALSE(file->get_ints("a.u8").ok());
}

TEST_CASE("tensors lie where the writer put them") {
  testing::TinyRandom random(3);
  const std::string q8 = testing::random_blocks(TensorType::q8_0, 64 * 3, 1.0f, random);
  const std::string f32 = testing::random_blocks(TensorType::f32, 5, 1.0f, random);
  for (const uint32_t alignment : {8u, 32u, 256u}) {
    GgufWriter writer;
    writer.alignment = alignment;
    writer.key_u32("general.alignment", alignment);
    writer.tensor("vector", {5}, 0, f32).tensor("matrix", {64, 3}, 8, q8);
    const Result<GgufFile> file = open_bytes(writer.bytes());
    REQUIRE(file.ok());
    REQUIRE(file->tensors().size() == 2);
    const GgufTensor* matrix = file->find("matrix");
    REQUIRE(matrix != nullptr);
    CHECK(matrix->type == TensorType::q8_0);
    CHECK(matrix->columns() == 64);
    CHECK(matrix->rows() == 3);
    CHECK(std::string(matrix->data.begin(), matrix->data.end()) == q8);
    const GgufTensor* vector = file->find("vector");
    REQUIRE(vector != nullptr);
    CHECK(std::string(vector->data.begin(), vector->data.end()) == f32);
    CHECK(file->find("none") == nullptr);
  }
}

TEST_CASE("a tiny llama opens in every tensor type, in version 2 and 3") {
  for (const auto number : {0u, 1u, 2u, 3u, 6u, 7u, 8u, 12u, 13u, 14u, 30u}) {
    GgufWriter writer = testing::tiny_llama({.type = *tensor_type(number)});
    writer.version = 2 + number % 2;
    const Result<GgufFile> file = open_bytes(writer.bytes());
    CAPTURE(number, file.status().message());
    REQUIRE(file.ok());
    CHECK(file->tensors().size() == 20);
    CHECK(file->get_texts("tokenizer.ggml.tokens")->size() == testing::kTinyVocabulary);
  }
}

TEST_CASE("what is not a file of ours") {
  CHECK(GgufFile::open("/nonexistent/model.gguf").status().code() == Code::not_found);
  refuse("", Code::corrupt, {"magic"});
  refuse("GG", Code::corrupt, {"magic", "2 bytes"});
  refuse("PK\x03\x04 and so on", Code::corrupt, {"magic"});
  GgufWriter writer;
  for (const uint32_t version : {0u, 1u, 4u, 0x0100u}) {
    writer.version = version;
    refuse(writer.bytes(), Code::unavailable, {"version", std::to_string(version)});
  }
  writer.version = 0x03000000;
  refuse(writer.bytes(), Code::unavailable, {"version", "big-endian"});
}

TEST_CASE("counts past the limits (T-04)") {
  GgufWriter writer;
  writer.tensor_count = 65'537;
  refuse(writer.bytes(), Code::limit, {"tensor count", "65537", "65536"});
  writer.tensor_count = ~uint64_t{0};
  refuse(writer.bytes(), Code::limit, {"tensor count", "18446744073709551615"});
  writer.tensor_count = 0;
  writer.key_count = 4'097;
  refuse(writer.bytes(), Code::limit, {"key count", "4097", "4096"});
  writer.key_count = 5;
  refuse(writer.bytes(), Code::corrupt, {"key 0 of 5"});
  writer.key_count = 0;
  writer.tensor_count = 60'000;
  refuse(writer.bytes(), Code::corrupt, {"tensor 0 of 60000"});
}

TEST_CASE("strings and arrays longer than the file (T-05)") {
  SECTION("string") {
    GgufWriter writer;
    writer.key("s", GgufWriter::string, uint64_t{1} << 30);
    refuse(writer.bytes(), Code::limit, {"'s'", "1073741824", "1048576"});
  }
  SECTION("string under the limit") {
    GgufWriter writer;
    writer.key("s", GgufWriter::string, uint64_t{1'000'000});
    refuse(writer.bytes(), Code::corrupt, {"'s'", "1000000", "0 left"});
  }
  SECTION("array") {
    struct Head {
      uint32_t type;
      uint32_t count_low;  // packed by hand: no padding between the two fields
      uint32_t count_high;
    };
    for (const uint32_t type : {0u, 4u, 8u, 10u}) {
      GgufWriter huge;
      huge.key("a", GgufWriter::array, Head{type, 0, 0x80000000});
      refuse(huge.bytes(), Code::limit, {"'a'", "9223372036854775808", "1048576"});
      GgufWriter lying;
      lying.key("a", GgufWriter::array, Head{type, 1'000'000, 0});
      refuse(lying.bytes(), Code::corrupt, {"'a'", "1000000", "0 bytes left"});
    }
    GgufWriter nested;
    nested.key("a", GgufWriter::array, Head{9, 1, 0});
    refuse(nested.bytes(), Code::unavailable, {"'a'", "array of arrays"});
    GgufWriter unknown;
    unknown.key("a", GgufWriter::array, Head{13, 1, 0});
    refuse(unknown.bytes(), Code::corrupt, {"'a'", "13"});
  }
  SECTION("a name") {
    GgufWriter writer;
    std::string bytes = writer.bytes();
    bytes[16] = 1;  // one key, whose name's length is cut off
    refuse(bytes, Code::corrupt, {"key 0 of 1"});
  }
}

TEST_CASE("values that are none") {
  GgufWriter flag;
  flag.key("b", GgufWriter::boolean, uint8_t{2});
  refuse(flag.bytes(), Code::corrupt, {"'b'", "bool"});
  GgufWriter unknown;
  unknown.key("u", static_cast<GgufWriter::Type>(99), uint64_t{0});
  refuse(unknown.bytes(), Code::corrupt, {"'u'", "99"});
  GgufWriter twice;
  twice.key_u32("k", 1).key_u32("k", 1);
  refuse(twice.bytes(), Code::corrupt, {"'k'", "twice"});
  GgufWriter nameless;
  nameless.key_u32("", 1);
  refuse(nameless.bytes(), Code::corrupt, {"key 0", "empty"});
  GgufWriter control;
  control.key_u32("a\n\x1b[31m", 1).key_u32("a\n\x1b[31m", 1);
  const Result<GgufFile> file = open_bytes(control.bytes());
  CHECK(file.status().message().find('\n') == std::string::npos);
  CHECK(file.status().message().find('\x1b') == std::string::npos);
}

TEST_CASE("alignments (T-06)") {
  for (const uint32_t alignment : {0u, 3u, 33u, 8192u, 1u << 30, 0xffffffffu}) {
    GgufWriter writer;
    writer.key_u32("general.alignment", alignment);
    refuse(writer.bytes(), Code::corrupt, {"general.alignment", std::to_string(alignment), "4096"});
  }
  GgufWriter sign;
  sign.key("general.alignment", GgufWriter::i32, int32_t{32});
  refuse(sign.bytes(), Code::corrupt, {"general.alignment", "i32, not u32"});
  GgufWriter text;
  text.key_text("general.alignment", "32");
  refuse(text.bytes(), Code::corrupt, {"general.alignment", "string, not u32"});
}

TEST_CASE("extents and types (T-02, T-03)") {
  const auto one = [](const std::vector<uint64_t>& extents, uint32_t type) {
    return GgufWriter().tensor("t", extents, type, floats(8)).bytes();
  };
  refuse(one({uint64_t{1} << 62}, 0), Code::corrupt, {"'t'", "2^64"});
  refuse(one({uint64_t{1} << 62, 4}, 0), Code::corrupt, {"'t'", "2^64"});
  refuse(one({uint64_t{1} << 32, uint64_t{1} << 32}, 8), Code::corrupt, {"'t'", "2^64"});
  refuse(one({uint64_t{1} << 61}, 0), Code::corrupt, {"'t'", "9223372036854775808"});
  refuse(one({~uint64_t{0}}, 1), Code::corrupt, {"'t'"});
  refuse(one({0}, 0), Code::corrupt, {"'t'", "extent 0 is 0"});
  refuse(one({4, 0}, 0), Code::corrupt, {"'t'", "extent 1 is 0"});
  refuse(one({}, 0), Code::corrupt, {"'t'", "0 dimensions"});
  refuse(one({1, 1, 1, 1, 1}, 0), Code::corrupt, {"'t'", "5 dimensions"});
  refuse(one({48}, 8), Code::corrupt, {"'t'", "48", "Q8_0", "32"});
  refuse(one({128}, 12), Code::corrupt, {"'t'", "128", "Q4_K", "256"});
  refuse(one({32}, 4), Code::unavailable, {"'t'", "type 4"});
  refuse(one({32}, 16), Code::unavailable, {"'t'", "type 16"});
  refuse(GgufWriter().tensor("t", {1}, 0, floats(1)).tensor("t", {1}, 0, floats(1)).bytes(),
         Code::corrupt, {"'t'", "twice"});
}

TEST_CASE("places in the file (T-01, T-07)") {
  const auto at = [](uint64_t offset, uint64_t elements) {
    return GgufWriter().tensor_entry("t", {elements}, 0, offset, floats(16)).bytes();
  };
  CHECK(open_bytes(at(0, 16)).ok());
  CHECK(open_bytes(at(32, 8)).ok());
  refuse(at(32, 9), Code::corrupt, {"'t'", "offset 32 + 36 bytes", "64 bytes"});
  refuse(at(64, 1), Code::corrupt, {"'t'", "offset 64 + 4 bytes"});
  refuse(at(~uint64_t{31}, 8), Code::corrupt, {"'t'", "18446744073709551584"});
  refuse(at(uint64_t{1} << 63, 16), Code::corrupt, {"'t'", "9223372036854775808"});
  refuse(at(4, 1), Code::corrupt, {"'t'", "offset 4", "alignment 32"});

  SECTION("many tensors over the same bytes") {
    GgufWriter writer;
    for (int i = 0; i < 3; ++i) {
      writer.tensor_entry("t" + std::to_string(i), {16}, 0, 0, i == 0 ? floats(32) : "");
    }
    refuse(writer.bytes(), Code::corrupt, {"'t2'", "192", "128"});
  }
  SECTION("no data section at all") {
    refuse(GgufWriter().tensor_entry("t", {1}, 0, 0, "").bytes(), Code::corrupt, {"'t'"});
  }
}

TEST_CASE("a file cut anywhere is refused by name, never read past its end") {
  const std::string whole = testing::tiny_llama({.type = TensorType::q8_0, .layers = 1}).bytes();
  REQUIRE(open_bytes(whole).ok());
  for (size_t size = 0; size < whole.size(); size += 1 + size / 40) {
    CAPTURE(size);
    const Result<GgufFile> file = open_bytes(whole.substr(0, size));
    REQUIRE_FALSE(file.ok());
    const std::string text = file.status().message();
    const bool named =
        text.find("magic") != std::string::npos || text.find("version") != std::string::npos ||
        text.find("header") != std::string::npos || text.find("key ") != std::string::npos ||
        text.find("tensor ") != std::string::npos;
    REQUIRE(named);
  }
}

}  // namespace
}  // namespace thinkd::engine
