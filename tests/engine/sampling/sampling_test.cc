#include "engine/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "base/philox.h"
#include "tests/support/catch.h"

namespace thinkd::engine {
namespace {

// The law of the draw by the definition, in double precision: penalty, temperature, top-k, top-p,
// min-p.
std::map<Token, double> law(std::vector<double> logits, const Sampling& sampling,
                            const std::vector<Token>& history) {
  std::vector<Token> seen = history;
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (Token token : seen) {
    logits[token] = logits[token] > 0 ? logits[token] / sampling.repetition_penalty
                                      : logits[token] * sampling.repetition_penalty;
  }
  std::vector<std::pair<double, Token>> order;
  for (Token i = 0; i < logits.size(); ++i) {
    order.emplace_back(-logits[i] / sampling.temperature, i);
  }
  std::sort(order.begin(), order.end());
  if (sampling.top_k > 0) {
    order.resize(std::min<size_t>(order.size(), sampling.top_k));
  }
  double total = 0;
  for (const auto& [negative, token] : order) {
    total += std::exp(-negative + order[0].first);
  }
  std::map<Token, double> kept;
  double mass = 0;
  for (const auto& [negative, token] : order) {
    const double weight = std::exp(-negative + order[0].first);
    if (weight >= sampling.min_p) {
      kept[token] = weight;
    }
    mass += weight;
    if (sampling.top_p < 1 && mass >= sampling.top_p * total) {
      break;
    }
  }
  double sum = 0;
  for (const auto& [token, weight] : kept) {
    sum += weight;
  }
  for (auto& [token, weight] : kept) {
    weight /= sum;
  }
  return kept;
}

TEST_CASE("draws follow the law of the options, by inverse CDF in the order of token ids") {
  const uint32_t seed = 77;
  INFO("seed=" << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 2);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> logits(2 + random() % 300);
    for (float& logit : logits) {
      logit = normal(random);
    }
    Sampling sampling;
    sampling.temperature = 0.3f + 0.1f * static_cast<float>(random() % 20);
    sampling.top_k = random() % 3 == 0 ? 1 + random() % 20 : 0;
    sampling.top_p = random() % 2 == 0 ? 0.5f + 0.02f * static_cast<float>(random() % 25) : 1.0f;
    sampling.min_p = random() % 3 == 0 ? 0.05f : 0.0f;
    sampling.repetition_penalty = random() % 3 == 0 ? 1.3f : 1.0f;
    const std::vector<Token> history = {0, 1, 1};
    const auto expected = law({logits.begin(), logits.end()}, sampling, history);
    // Uniforms in the middle of each token's interval: the inverse CDF must give that token.
    double below = 0;
    for (const auto& [token, probability] : expected) {
      if (probability > 1e-5) {
        const auto draw = draw_token(logits, sampling, history, below + probability / 2);
        REQUIRE(draw);
        CHECK(draw->token == token);
      }
      below += probability;
    }
  }
}

TEST_CASE("temperature 0 takes the largest, the lowest id of equals, after the penalty") {
  const std::vector<float> logits = {1, 3, 3, 2};
  CHECK(draw_token(logits, {}, {}, 0.9)->token == 1);
  Sampling penalty;
  penalty.repetition_penalty = 2;
  const std::vector<Token> history = {1};
  CHECK(draw_token(logits, penalty, history, 0.9)->token == 2);
}

TEST_CASE("tiny and huge temperatures neither overflow nor lose the largest") {
  const std::vector<float> logits = {-30, -20, -25};
  for (float temperature : {1e-45f, 1e-38f, 1e-7f, 1e-5f, 1e-3f}) {
    Sampling sampling;
    sampling.temperature = temperature;
    sampling.top_p = 0.9f;
    for (double uniform : {0.0, 0.5, 0.999999}) {
      CHECK(draw_token(logits, sampling, {}, uniform)->token == 1);
    }
  }
  Sampling flat;
  flat.temperature = 1e30f;
  CHECK(draw_token(logits, flat, {}, 0.1)->token == 0);
  CHECK(draw_token(logits, flat, {}, 0.9)->token == 2);
}

TEST_CASE("the log-prob of a draw is the model's own, before penalty and temperature") {
  const std::vector<float> logits = {0, 1, 2};
  Sampling sampling;
  sampling.temperature = 3;
  sampling.top_k = 1;
  const double norm = std::log(1 + std::exp(1.0) + std::exp(2.0));
  CHECK(std::abs(draw_token(logits, sampling, {}, 0.5)->logprob - (2 - norm)) < 1e-6);
}

TEST_CASE("logits that are not finite never win; none finite is said") {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {nan, inf, -1, -inf};
  Sampling sampling;
  sampling.temperature = 1;
  sampling.top_p = 0.9f;
  for (double uniform : {0.0, 0.5, 0.999999}) {
    CHECK(draw_token(logits, sampling, {}, uniform)->token == 2);
  }
  CHECK(draw_token(logits, {}, {}, 0)->token == 2);
  const std::vector<float> none = {nan, inf, -inf};
  CHECK(!draw_token(none, sampling, {}, 0.5));
  CHECK(std::isnan(token_logprobs(none, 0, 2).logprob));
}

TEST_CASE("log-probs, entropy and the likeliest tokens in closed form") {
  const std::vector<float> logits = {std::log(1.f), std::log(2.f), std::log(4.f), std::log(1.f)};
  const TokenLogprobs result = token_logprobs(logits, 1, 3);
  CHECK(std::abs(result.logprob - std::log(0.25)) < 1e-6);
  const double entropy =
      -(2 * 0.125 * std::log(0.125) + 0.25 * std::log(0.25) + 0.5 * std::log(0.5));
  CHECK(std::abs(result.entropy - entropy) < 1e-6);
  REQUIRE(result.top.size() == 3);
  CHECK(result.top[0].first == 2);
  CHECK(result.top[1].first == 1);
  CHECK(result.top[2].first == 0);  // equal to token 3: the lower id
}

TEST_CASE("many draws have the frequencies of the law (chi-square)") {
  const std::vector<float> logits = {0.f, 0.5f, 1.f, -1.f, 0.2f};
  Sampling sampling;
  sampling.temperature = 0.8f;
  const auto expected = law({logits.begin(), logits.end()}, sampling, {});
  std::map<Token, double> counts;
  const int n = 50000;
  const PhiloxKey key = draw_key(5, "chi", "0", 0);
  for (int i = 0; i < n; ++i) {
    counts[draw_token(logits, sampling, {}, uniform(key, static_cast<uint64_t>(i)))->token] += 1;
  }
  double chi2 = 0;
  for (const auto& [token, probability] : expected) {
    chi2 += std::pow(counts[token] - n * probability, 2) / (n * probability);
  }
  CHECK(chi2 < 18.5);  // 4 degrees of freedom, p = 0.001
}

}  // namespace
}  // namespace thinkd::engine
