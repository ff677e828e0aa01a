// Expanding weights and converting halves: every table gives the bits of dequantize() and of the
// conversions beside it, which are tested on their own.

#include <bit>
#include <cmath>
#include <cstring>

#include "engine/kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

TEST_CASE("expand equals dequantize bit for bit") {
  TinyRandom random(11);
  for (const Kernels* kernels : all_kernels()) {
    for (const TensorType type :
         {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::q4_0, TensorType::q4_1,
          TensorType::q5_0, TensorType::q5_1, TensorType::q8_0, TensorType::q4_k, TensorType::q5_k,
          TensorType::q6_k}) {
      INFO(kernels->name << " " << info(type).name);
      for (const float deviation :
           {1.0f, 1e-5f, 300.0f}) {  // 1e-5: scales that are denormal halves
        const uint64_t count = uint64_t{info(type).block_elements} * 37;
        const std::string blocks = random_blocks(type, count, deviation, random);
        const auto* bytes = reinterpret_cast<const uint8_t*>(blocks.data());
        std::vector<float> expected(count);
        std::vector<float> found(count + 1, 42.0f);
        dequantize(type, bytes, count, expected.data());
        kernels->expand(type, bytes, count, found.data());
        CHECK(std::memcmp(expected.data(), found.data(), count * sizeof(float)) == 0);
        CHECK(found[count] == 42.0f);
      }
    }
  }
}

TEST_CASE("every half becomes the float it names") {
  std::vector<uint16_t> halves(65536 + 3);
  for (size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<uint16_t>(i);
  }
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> found(halves.size());
    kernels->from_half(halves.data(), halves.size(), found.data());
    int wrong = 0;
    for (size_t i = 0; i < halves.size(); ++i) {
      const float expected = half_to_float(halves[i]);
      const bool same = std::isnan(expected) ? std::isnan(found[i])
                                             : std::bit_cast<uint32_t>(expected) ==
                                                   std::bit_cast<uint32_t>(found[i]);
      wrong += same ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("floats round to halves alike in every table") {
  TinyRandom random(12);
  std::vector<float> floats = {0.0f,           -0.0f,      65504.0f,       65519.99f,     65520.0f,
                               1e9f,           -1e9f,      INFINITY,       5.9e-8f,       2.9e-8f,
                               2.98023224e-8f, 6.1035e-5f, 1.00048828125f, 1.00146484375f};
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random.next()));
    floats.push_back(std::isnan(value) ? 0.0f : value);
    floats.push_back((random.uniform() - 0.5f) * 8.0f);
  }
  for (const Kernels* kernels : all_kernels()) {
    std::vector<uint16_t> found(floats.size());
    kernels->to_half(floats.data(), floats.size(), found.data());
    int wrong = 0;
    for (size_t i = 0; i < floats.size(); ++i) {
      wrong += found[i] == float_to_half(floats[i]) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}
