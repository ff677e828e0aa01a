#include "engine/model/tensor_type.h"

#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "tests/support/catch.h"

namespace thinkd::engine {
namespace {

// What a half is by IEEE 754, computed rather than shuffled.
double half_by_definition(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST_CASE("every half becomes the float that it is, and comes back") {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double truth = half_by_definition(half);
    const float value = half_to_float(half);
    if (std::isnan(truth)) {
      REQUIRE(std::isnan(value));
      REQUIRE(std::isnan(half_to_float(float_to_half(value))));
      continue;
    }
    REQUIRE(static_cast<double>(value) == truth);
    REQUIRE(std::signbit(value) == std::signbit(truth));
    REQUIRE(float_to_half(value) == half);
  }
}

TEST_CASE("a float between two halves goes to the nearer, from the middle to the even one") {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto below = static_cast<uint16_t>(bits);
    const auto above = static_cast<uint16_t>(bits + 1);
    const float low = half_to_float(below);
    const float high = half_to_float(above);
    const float middle = low + (high - low) / 2;  // exact: floats have 13 bits more
    REQUIRE(float_to_half(middle) == ((bits & 1) == 0 ? below : above));
    REQUIRE(float_to_half(std::nextafter(middle, low)) == below);
    REQUIRE(float_to_half(std::nextafter(middle, high)) == above);
    REQUIRE(float_to_half(-middle) == (0x8000 | ((bits & 1) == 0 ? below : above)));
  }
  CHECK(float_to_half(65519.996f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(1e30f) == 0x7c00);
  CHECK(float_to_half(-INFINITY) == 0xfc00);
  CHECK(float_to_half(1e-30f) == 0);
}

TEST_CASE("blocks expand to what the gguf package expands them to, bit for bit") {
  const std::string path = std::string(THINKD_SOURCE_DIR) + "/tests/data/gguf/tensor_blocks.bin";
  const Result<std::string> file = read_file(path, 16 << 20);
  REQUIRE(file.ok());
  ByteReader reader{std::string_view(*file)};
  const auto types = reader.read<uint32_t>();
  REQUIRE(types == 11);
  std::set<TensorType> seen;
  for (uint32_t t = 0; t < types; ++t) {
    const auto gguf_number = reader.read<uint32_t>();
    const auto elements = reader.read<uint32_t>();
    const auto bytes = reader.read<uint32_t>();
    const std::string_view blocks = reader.text(bytes);
    const std::string_view expected = reader.text(4ULL * elements);
    REQUIRE_FALSE(reader.failed());
    const std::optional<TensorType> type = tensor_type(gguf_number);
    REQUIRE(type.has_value());
    CAPTURE(info(*type).name);
    REQUIRE(uint64_t{elements} / info(*type).block_elements * info(*type).block_bytes == bytes);
    seen.insert(*type);
    std::vector<float> out(elements);
    dequantize(*type, reinterpret_cast<const uint8_t*>(blocks.data()), elements, out.data());
    uint32_t not_numbers = 0;
    for (uint32_t i = 0; i < elements; ++i) {
      float wanted;
      std::memcpy(&wanted, expected.data() + 4 * i, 4);
      CAPTURE(i, wanted, out[i]);
      if (std::isnan(wanted)) {
        ++not_numbers;
        REQUIRE(std::isnan(out[i]));
      } else {
        REQUIRE(std::bit_cast<uint32_t>(out[i]) == std::bit_cast<uint32_t>(wanted));
      }
    }
    CHECK(not_numbers < elements);
  }
  CHECK(reader.done());
  CHECK(seen.size() == 11);
}

TEST_CASE("the table of types") {
  CHECK_FALSE(tensor_type(4).has_value());
  CHECK_FALSE(tensor_type(9).has_value());
  CHECK_FALSE(tensor_type(0xffffffff).has_value());
  CHECK(tensor_type(14) == TensorType::q6_k);
  CHECK(info(TensorType::q5_1).name == "Q5_1");
}

}  // namespace
}  // namespace thinkd::engine
