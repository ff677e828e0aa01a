// exp, norms, activations, rotary embedding and block attention against double.

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/kernels.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

std::vector<float> random_floats(uint64_t count, float size, TinyRandom& random) {
  std::vector<float> out(count);
  for (float& value : out) {
    value = (random.uniform() * 2.0f - 1.0f) * size;
  }
  return out;
}

}  // namespace

TEST_CASE("exp is within its stated bound") {
  std::vector<float> x;
  for (double at = -87.33; at < 88.37; at += 0.000731) {
    x.push_back(static_cast<float>(at));
  }
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> found(x.size());
    kernels->exp(x.data(), x.size(), found.data());
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] < -87.33f || x[i] > 88.37f) {
        continue;
      }
      const double exact = std::exp(static_cast<double>(x[i]));
      worst = std::max(worst, std::abs(found[i] - exact) / exact);
    }
    INFO(kernels->name);
    CHECK(worst < 3e-7);
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> edges = {0.0f,     -0.0f, -88.0f, -infinity, 89.0f,
                                      infinity, NAN,   -1e30f, 1e30f};
    std::vector<float> out(edges.size());
    kernels->exp(edges.data(), edges.size(), out.data());
    CHECK(out[0] == 1.0f);
    CHECK(out[1] == 1.0f);
    CHECK(out[2] == 0.0f);
    CHECK(out[3] == 0.0f);
    CHECK(out[4] == infinity);
    CHECK(out[5] == infinity);
    CHECK(std::isnan(out[6]));
    CHECK(out[7] == 0.0f);
    CHECK(out[8] == infinity);
  }
}

TEST_CASE("norm, silu and addition match double") {
  TinyRandom random(31);
  for (const Kernels* kernels : all_kernels()) {
    for (int round = 0; round < 50; ++round) {
      const auto length = static_cast<uint32_t>(1 + random.below(300));
      INFO(kernels->name << " length " << length);
      const std::vector<float> x = random_floats(length, 10.0f, random);
      const std::vector<float> weight = random_floats(length, 2.0f, random);
      std::vector<float> normal(length);
      kernels->rms_norm(x.data(), weight.data(), 1e-5f, length, normal.data());
      std::vector<float> gate = x;
      kernels->silu_multiply(gate.data(), weight.data(), length);
      std::vector<float> sum = x;
      kernels->add(sum.data(), weight.data(), length);
      double squares = 0;
      for (const float value : x) {
        squares += static_cast<double>(value) * value;
      }
      const double scale = 1.0 / std::sqrt(squares / length + 1e-5);
      double worst = 0;
      for (uint32_t i = 0; i < length; ++i) {
        worst = std::max(worst, std::abs(normal[i] - x[i] * scale * weight[i]));
        worst = std::max(worst, std::abs(gate[i] - x[i] / (1.0 + std::exp(-x[i])) * weight[i]));
        CHECK(sum[i] == x[i] + weight[i]);
      }
      CHECK(worst < 1e-5);
    }
  }
}

TEST_CASE("rotation turns pairs and leaves the rest") {
  TinyRandom random(32);
  for (const Kernels* kernels : all_kernels()) {
    for (const RopePairs pairs : {RopePairs::adjacent, RopePairs::halves}) {
      const uint32_t head_size = 20;
      const uint32_t rotated = 12;
      const std::vector<float> x = random_floats(head_size, 1.0f, random);
      std::vector<float> cos_sin;
      std::vector<double> angles;
      for (uint32_t i = 0; i < rotated / 2; ++i) {
        angles.push_back(random.uniform() * 6.0);
        cos_sin.push_back(static_cast<float>(std::cos(angles[i])));
        cos_sin.push_back(static_cast<float>(std::sin(angles[i])));
      }
      std::vector<float> out(head_size);
      kernels->rotate(x.data(), cos_sin.data(), pairs, rotated, head_size, out.data());
      for (uint32_t i = 0; i < rotated / 2; ++i) {
        const uint32_t a = pairs == RopePairs::adjacent ? 2 * i : i;
        const uint32_t b = pairs == RopePairs::adjacent ? 2 * i + 1 : i + rotated / 2;
        CHECK(std::abs(out[a] - (x[a] * std::cos(angles[i]) - x[b] * std::sin(angles[i]))) < 1e-6);
        CHECK(std::abs(out[b] - (x[a] * std::sin(angles[i]) + x[b] * std::cos(angles[i]))) < 1e-6);
      }
      for (uint32_t i = rotated; i < head_size; ++i) {
        CHECK(out[i] == x[i]);
      }
    }
  }
}

TEST_CASE("attention folded over blocks equals softmax over all keys") {
  TinyRandom random(33);
  for (const Kernels* kernels : all_kernels()) {
    for (int round = 0; round < 120; ++round) {
      const uint32_t sizes[] = {1, 4, 8, 20, 64, 100, 128, 192};
      const uint32_t head_size = sizes[random.below(8)];
      const auto blocks = 1 + random.below(4);
      const std::vector<float> query = random_floats(head_size, 3.0f, random);
      const float scale = 1.0f / std::sqrt(static_cast<float>(head_size));
      std::vector<float> values(head_size);
      std::vector<float> partial(head_size);
      AttentionState state;
      std::vector<double> scores;
      std::vector<std::vector<float>> kept;
      for (uint64_t b = 0; b < blocks; ++b) {
        const auto count = static_cast<uint32_t>(1 + random.below(kBlockKeys));
        const std::vector<float> keys = random_floats(uint64_t{count} * head_size, 2.0f, random);
        const std::vector<float> rows = random_floats(uint64_t{count} * head_size, 1.0f, random);
        const KeyBlock block = {keys.data(), rows.data(), count, head_size};
        const AttentionState later =
            kernels->attend(block, query.data(), scale, b == 0 ? values.data() : partial.data());
        state =
            b == 0 ? later : kernels->merge(state, values.data(), later, partial.data(), head_size);
        for (uint32_t j = 0; j < count; ++j) {
          double score = 0;
          for (uint32_t d = 0; d < head_size; ++d) {
            score += static_cast<double>(query[d]) * keys[j * head_size + d];
          }
          scores.push_back(score * scale);
          kept.emplace_back(rows.begin() + j * head_size, rows.begin() + (j + 1) * head_size);
        }
      }
      kernels->finish(state, values.data(), head_size);
      const double max = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      std::vector<double> exact(head_size);
      for (size_t j = 0; j < scores.size(); ++j) {
        const double weight = std::exp(scores[j] - max);
        sum += weight;
        for (uint32_t d = 0; d < head_size; ++d) {
          exact[d] += weight * kept[j][d];
        }
      }
      double worst = 0;
      for (uint32_t d = 0; d < head_size; ++d) {
        worst = std::max(worst, std::abs(values[d] - exact[d] / sum));
      }
      INFO(kernels->name << " head size " << head_size << ", round " << round);
      CHECK(worst < 1e-5);
    }
  }
}

TEST_CASE("an instruction set is found by name or refused by name") {
  CHECK(find_kernels("portable").ok());
  CHECK((*find_kernels("portable"))->name == "portable");
  CHECK(find_kernels("").ok());
  const auto unknown = find_kernels("sse9");
  REQUIRE_FALSE(unknown.ok());
  CHECK_THAT(unknown.status().message(), Contains("sse9"));
}
