#pragma once
// How the next token is drawn. Order: repetition penalty, temperature, top-k, top-p, min-p, then
// one uniform through the inverse CDF by token id. A temperature below 1e-6 takes the largest
// logit, lowest id first. Non-finite logits count as minus infinity and never win; where no logit
// is finite, the result says so.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/tokenizer/token.h"

namespace thinkd::engine {

struct Sampling {
  float temperature = 0.0f;         // below 1e-6: greedy
  uint32_t top_k = 0;               // 0: off
  float top_p = 1.0f;               // 1: off
  float min_p = 0.0f;               // 0: off
  float repetition_penalty = 1.0f;  // 1: off; over all tokens of the branch (Keskar et al. 2019)
};

struct Draw {
  Token token = 0;
  double logprob = 0;  // natural log of the model's own probability, before penalty and temperature
};

// None where no logit is finite. `history`: the branch's tokens, read where a penalty is set.
std::optional<Draw> draw_token(std::span<const float> logits, const Sampling& sampling,
                               std::span<const Token> history, double uniform);

struct TokenLogprobs {
  double logprob = 0;                         // of the token asked about
  double entropy = 0;                         // of the whole distribution, nats
  std::vector<std::pair<Token, double>> top;  // the k likeliest, by log-prob, then by id
};

TokenLogprobs token_logprobs(std::span<const float> logits, Token token, uint32_t top_k);

}  // namespace thinkd::engine
