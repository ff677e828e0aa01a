#pragma once
// A runner against log-probs and greedy tokens that PyTorch computed from the same weights: the
// lines of tests/data/logits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/engine/runner/paged.h"
#include "tests/support/catch.h"

namespace thinkd::testing {

inline double log_prob(const float* logits, uint32_t vocabulary, engine::Token token) {
  const double max = *std::max_element(logits, logits + vocabulary);
  double sum = 0;
  for (uint32_t i = 0; i < vocabulary; ++i) {
    sum += std::exp(logits[i] - max);
  }
  return logits[token] - max - std::log(sum);
}

inline engine::Token best_of(const float* logits, uint32_t vocabulary) {
  return static_cast<engine::Token>(std::max_element(logits, logits + vocabulary) - logits);
}

struct ReferenceLimits {
  size_t prompt = SIZE_MAX;  // longer prompts are left out
  size_t greedy = SIZE_MAX;  // of each line, so many tokens
};

struct Compared {
  int lines = 0;
  double worst = 0;       // difference of a prompt token's log-prob
  std::string near_ties;  // prompt and position of each choice that is too close to compare
};

inline void compare_line(engine::ModelRunner& runner, const Json& reference,
                         const ReferenceLimits& limits, Compared& compared) {
  const uint32_t vocabulary = runner.shape().vocabulary;
  const auto prompt = reference["prompt"].get<std::vector<engine::Token>>();
  if (prompt.size() > limits.prompt) {
    return;
  }
  const auto expected = reference["logprobs"].get<std::vector<double>>();
  const auto greedy = reference["greedy"].get<std::vector<engine::Token>>();
  const auto gaps = reference["gaps"].get<std::vector<double>>();
  const auto greedy_log_probs = reference["greedy_logprobs"].get<std::vector<double>>();
  Pages pages(runner.shape().page_bytes);
  Text text(runner.shape(), pages);
  std::vector<float> logits = logits_of(runner, text, prompt, 128);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double found = log_prob(logits.data() + i * vocabulary, vocabulary, prompt[i + 1]);
    INFO("prompt token " << i + 1);
    CHECK(std::abs(found - expected[i]) < 0.02);
    compared.worst = std::max(compared.worst, std::abs(found - expected[i]));
  }
  std::vector<float> row(logits.end() - vocabulary, logits.end());
  for (size_t i = 0; i < std::min(greedy.size(), limits.greedy); ++i) {
    INFO("greedy token " << i << ", gap " << gaps[i]);
    CHECK(std::abs(log_prob(row.data(), vocabulary, greedy[i]) - greedy_log_probs[i]) < 0.02);
    // Where the reference's best two are this close, another order of sums may choose otherwise;
    // the reference's choice is followed, so that what comes after is compared too.
    if (gaps[i] < 0.05) {
      compared.near_ties += "\n  " + reference["name"].get<std::string>() + ", greedy token " +
                            std::to_string(i) + ": gap " + std::to_string(gaps[i]);
    } else {
      CHECK(best_of(row.data(), vocabulary) == greedy[i]);
    }
    row = logits_of(runner, text, {greedy[i]}, 1);
  }
}

// `file`: under tests/data/logits.
inline Compared compare_with_reference(engine::ModelRunner& runner, const std::string& file,
                                       const ReferenceLimits& limits = {}) {
  const Result<std::string> text =
      read_file(std::string(THINKD_SOURCE_DIR) + "/tests/data/logits/" + file, 1 << 20);
  REQUIRE(text.ok());
  Compared compared;
  for (const std::string_view line : split(*text, '\n')) {
    if (line.empty()) {
      continue;
    }
    ++compared.lines;
    const Json reference = Json::parse(line);
    INFO("line " << reference["name"].get<std::string>());
    compare_line(runner, reference, limits, compared);
  }
  return compared;
}

}  // namespace thinkd::testing
