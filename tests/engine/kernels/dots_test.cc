// Dot products and matrix products against double, and the contract of bits: an element does not
// depend on the rows beside it, on the tile or on the number of threads.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/kernels/multiply.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

std::vector<float> random_floats(uint64_t count, TinyRandom& random) {
  std::vector<float> out(count);
  for (float& value : out) {
    value = random.uniform() * 2.0f - 1.0f;
  }
  return out;
}

struct Exact {
  double sum = 0;
  double size = 0;  // of the terms: rounding errors are bounded by it
};

Exact exact_dot(const float* a, const float* b, uint32_t length) {
  Exact exact;
  for (uint32_t i = 0; i < length; ++i) {
    exact.sum += static_cast<double>(a[i]) * b[i];
    exact.size += std::abs(static_cast<double>(a[i]) * b[i]);
  }
  return exact;
}

}  // namespace

TEST_CASE("dots of odd shapes match double and do not depend on their company") {
  TinyRandom random(21);
  for (const Kernels* kernels : all_kernels()) {
    for (int round = 0; round < 300; ++round) {
      const auto weight_rows = static_cast<uint32_t>(1 + random.below(11));
      const auto x_rows = static_cast<uint32_t>(1 + random.below(9));
      const auto length = static_cast<uint32_t>(1 + random.below(131));
      const uint64_t weight_stride = length + random.below(3);
      const uint64_t x_stride = length + random.below(3);
      INFO(kernels->name << " " << weight_rows << " x " << x_rows << " x " << length);
      const std::vector<float> weights = random_floats(weight_rows * weight_stride, random);
      const std::vector<float> x = random_floats(x_rows * x_stride, random);
      std::vector<float> out(uint64_t{weight_rows} * x_rows);
      kernels->dots({weights.data(), weight_stride, weight_rows}, {x.data(), x_stride, x_rows},
                    length, out.data(), weight_rows);
      bool near = true;
      bool same = true;
      for (uint32_t r = 0; r < x_rows; ++r) {
        for (uint32_t w = 0; w < weight_rows; ++w) {
          const float* weight = weights.data() + w * weight_stride;
          const float* row = x.data() + r * x_stride;
          const Exact exact = exact_dot(weight, row, length);
          const float found = out[r * weight_rows + w];
          near =
              near && std::abs(found - exact.sum) <= (length / 8 + 5) * 6e-8 * exact.size + 1e-30;
          float alone = 0;
          kernels->dots({weight, 0, 1}, {row, 0, 1}, length, &alone, 1);
          same = same && std::memcmp(&alone, &found, sizeof(float)) == 0;
        }
      }
      CHECK(near);
      CHECK(same);
    }
  }
}

TEST_CASE(
    "matrix products of every type match double, with the same bits for any rows and threads") {
  TinyRandom random(22);
  for (const Kernels* kernels : all_kernels()) {
    for (const TensorType type :
         {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::q4_0, TensorType::q4_1,
          TensorType::q5_0, TensorType::q5_1, TensorType::q8_0, TensorType::q4_k, TensorType::q5_k,
          TensorType::q6_k}) {
      const uint32_t block = info(type).block_elements;
      const auto length = static_cast<uint32_t>(block * (1 + random.below(block == 1 ? 700 : 5)));
      const auto weight_rows = static_cast<uint32_t>(1 + random.below(150));
      constexpr uint32_t kRows = 7;
      INFO(kernels->name << " " << info(type).name << " " << weight_rows << " x " << length);
      const uint64_t count = uint64_t{weight_rows} * length;
      const std::string blocks = random_blocks(type, count, 1.0f, random);
      const auto* bytes = reinterpret_cast<const uint8_t*>(blocks.data());
      std::vector<float> expanded(count);
      dequantize(type, bytes, count, expanded.data());
      const std::vector<float> x = random_floats(uint64_t{kRows} * length, random);
      std::vector<std::vector<float>> found;
      for (const uint32_t threads : {1u, 2u, 3u}) {
        for (const uint32_t rows : {1u, 3u, kRows}) {
          ThreadPool pool(threads);
          Multiplier multiplier(*kernels, pool);
          std::vector<float> out(uint64_t{kRows} * weight_rows);
          for (uint32_t first = 0; first < kRows; first += rows) {
            const Product product[] = {{type, bytes, weight_rows, length, x.data() + first * length,
                                        std::min(rows, kRows - first),
                                        out.data() + first * weight_rows, weight_rows}};
            multiplier.run(product);
          }
          found.push_back(out);
        }
      }
      bool near = true;
      for (uint32_t r = 0; r < kRows; ++r) {
        for (uint32_t w = 0; w < weight_rows; ++w) {
          const Exact exact =
              exact_dot(expanded.data() + uint64_t{w} * length, x.data() + r * length, length);
          near = near && std::abs(found[0][r * weight_rows + w] - exact.sum) <=
                             (length / 8 + 5) * 6e-8 * exact.size + 1e-30;
        }
      }
      CHECK(near);
      for (const std::vector<float>& other : found) {
        CHECK(std::memcmp(other.data(), found[0].data(), other.size() * sizeof(float)) == 0);
      }
    }
  }
}
