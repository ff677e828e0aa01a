#pragma once
// A learned scorer's file for tests: random weights, small enough for the toy model's large states.

#include <string>
#include <string_view>
#include <vector>

#include "base/philox.h"
#include "tests/support/gguf_writer.h"

namespace thinkd::testing {

struct ScorerWeights {
  uint32_t width = 0;
  std::vector<float> w1, b1, w2, b2;
};

inline std::string floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline ScorerWeights random_scorer(uint32_t width, uint32_t hidden, uint64_t seed, float scale) {
  ScorerWeights out;
  out.width = width;
  uint64_t at = 0;
  const auto fill = [&](std::vector<float>& into, size_t count, float size) {
    for (size_t i = 0; i < count; ++i) {
      into.push_back(size *
                     static_cast<float>(2 * uniform(draw_key(seed, "scorer", "0", 0), at++) - 1));
    }
  };
  fill(out.w1, size_t{width} * hidden, scale);
  fill(out.b1, hidden, 1);
  fill(out.w2, hidden, 2);
  fill(out.b2, 1, 1);
  return out;
}

inline GgufWriter scorer_file(const ScorerWeights& scorer, std::string_view model_sha256) {
  GgufWriter file;
  const uint64_t hidden = scorer.b1.size();
  file.key_text("general.architecture", "thinkd-scorer");
  file.key_text("thinkd.scorer.model_sha256", model_sha256);
  file.tensor("w1", {scorer.width, hidden}, 0, floats(scorer.w1));
  file.tensor("b1", {hidden}, 0, floats(scorer.b1));
  file.tensor("w2", {hidden, 1}, 0, floats(scorer.w2));
  file.tensor("b2", {1}, 0, floats(scorer.b2));
  return file;
}

}  // namespace thinkd::testing
