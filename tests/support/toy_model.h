#pragma once
// A language model small enough to be enumerated. It replaces the model runner and nothing else:
// pages, blocks, the step loop, sampling and everything above are the real ones.
//
// The next token is one of `alphabet` or the end token. Its logits are a fixed function of (seed,
// the whole token history as it is read from the pages); a generated text ends after `depth`
// letters at the latest. Depth is the number of letters at the end of the history that belong to
// the alphabet, so a prompt should end with something else. The tokenizer has one token a byte,
// "<|im_start|>" and "<|im_end|>" (the end), and a ChatML template.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/model/language_model.h"

namespace thinkd::testing {

struct ToyOptions {
  uint32_t depth = 3;
  std::string alphabet = "ab";
  uint64_t seed = 1;
  uint32_t context = 4096;
  double end_logit = -0.5;  // added to the end token's logit before `depth` is reached
  uint32_t threads = 1;     // what parallel() uses
  std::optional<engine::Token> nan_after;  // a broken model: right behind it no logit is a number
};

std::unique_ptr<engine::LanguageModel> make_toy_model(const ToyOptions& options);

// The oracle: natural log-probs of the next token over the whole vocabulary, by the same law,
// computed from the history alone. Temperature 1.
std::vector<double> toy_logprobs(const ToyOptions& options, std::span<const engine::Token> history);

// Every text the model can generate after `prompt`, with its probability; they sum to 1.
struct ToyText {
  std::string text;
  double probability;
};
std::vector<ToyText> enumerate_toy(const ToyOptions& options, std::string_view prompt);

inline constexpr engine::Token kToyStart = 256;  // "<|im_start|>"
inline constexpr engine::Token kToyEnd = 257;    // "<|im_end|>"

// Tokens of a text, one a byte.
std::vector<engine::Token> toy_tokens(std::string_view text);

}  // namespace thinkd::testing
