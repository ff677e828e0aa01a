// SmolLM2 135M against transformers on the same weights (tests/reference/logits/make.py).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/engine/runner/paged.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

std::string model_path() {
  if (const char* named = std::getenv("THINKD_TEST_MODEL")) {
    return named;
  }
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = state ? state : std::string(home ? home : "") + "/.local/state";
  return base + "/thinkd/models/smollm2-135m.gguf";
}

double log_prob(const float* logits, uint32_t vocabulary, Token token) {
  double max = logits[0];
  for (uint32_t i = 1; i < vocabulary; ++i) {
    max = std::max(max, static_cast<double>(logits[i]));
  }
  double sum = 0;
  for (uint32_t i = 0; i < vocabulary; ++i) {
    sum += std::exp(logits[i] - max);
  }
  return logits[token] - max - std::log(sum);
}

Token best_of(const float* logits, uint32_t vocabulary) {
  return static_cast<Token>(std::max_element(logits, logits + vocabulary) - logits);
}

// ThreadSanitizer makes a step some fifty times slower; threads race in the first ones or never.
#ifdef __SANITIZE_THREAD__
constexpr size_t kMostPrompt = 60;
constexpr size_t kMostGreedy = 4;
#else
constexpr size_t kMostPrompt = SIZE_MAX;
constexpr size_t kMostGreedy = SIZE_MAX;
#endif

}  // namespace

TEST_CASE("log-probs and greedy tokens of SmolLM2 135M match transformers") {
  const std::string path = model_path();
  if (!std::filesystem::exists(path)) {
    WARN("SKIPPED: no model at " << path << "; set THINKD_TEST_MODEL or pull smollm2-135m");
    return;
  }
  ModelOptions options;
  options.compute = ComputeMode::f32;
  const LoadedRunner loaded = load_runner(path, options);
  ModelRunner& runner = *loaded.runner;
  const uint32_t vocabulary = runner.shape().vocabulary;
  const Result<std::string> lines =
      read_file(std::string(THINKD_SOURCE_DIR) + "/tests/data/logits/smollm2-135m.jsonl", 1 << 20);
  REQUIRE(lines.ok());
  double worst = 0;
  int prompts = 0;
  std::string near_ties;  // prompt and position of each
  for (const std::string_view line : split(*lines, '\n')) {
    if (line.empty()) {
      continue;
    }
    ++prompts;
    const Json reference = Json::parse(line);
    INFO("prompt " << reference["name"].get<std::string>());
    const auto prompt = reference["prompt"].get<std::vector<Token>>();
    if (prompt.size() > kMostPrompt) {
      continue;
    }
    const auto expected = reference["logprobs"].get<std::vector<double>>();
    const auto greedy = reference["greedy"].get<std::vector<Token>>();
    const auto gaps = reference["gaps"].get<std::vector<double>>();
    const auto greedy_log_probs = reference["greedy_logprobs"].get<std::vector<double>>();
    Pages pages(runner.shape().page_bytes);
    Text text(runner.shape(), pages);
    std::vector<float> logits = logits_of(runner, text, prompt, 128);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double found = log_prob(logits.data() + i * vocabulary, vocabulary, prompt[i + 1]);
      INFO("prompt token " << i + 1);
      CHECK(std::abs(found - expected[i]) < 0.02);
      worst = std::max(worst, std::abs(found - expected[i]));
    }
    std::vector<float> row(logits.end() - vocabulary, logits.end());
    for (size_t i = 0; i < std::min(greedy.size(), kMostGreedy); ++i) {
      INFO("greedy token " << i << ", gap " << gaps[i]);
      CHECK(std::abs(log_prob(row.data(), vocabulary, greedy[i]) - greedy_log_probs[i]) < 0.02);
      // Where the reference's best two are this close, another order of sums may choose otherwise;
      // the reference's choice is followed, so that what comes after is compared too.
      if (gaps[i] < 0.05) {
        near_ties += "\n  " + reference["name"].get<std::string>() + ", greedy token " +
                     std::to_string(i) + ": gap " + std::to_string(gaps[i]);
      } else {
        CHECK(best_of(row.data(), vocabulary) == greedy[i]);
      }
      row = logits_of(runner, text, {greedy[i]}, 1);
    }
  }
  CHECK(prompts == 10);
  WARN("largest difference of a prompt's log-prob "
       << worst
       << "; greedy choices too close to compare:" << (near_ties.empty() ? " none" : near_ties));
}
