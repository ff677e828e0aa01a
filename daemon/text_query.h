#pragma once
// The engine alone, for `complete` and `score`: one prompt, one query, no strategy and no store.
// All log-probabilities are the model's own, natural logarithms. Blocks its caller until the engine
// is done.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "engine/sampling/sampling.h"
#include "engine/scheduler/engine.h"

namespace thinkd::daemon {

struct PromptOptions {
  bool raw = false;      // no chat template
  bool special = false;  // control tokens written in the text count as such
};

// The tokens that `text` gives a model: through its chat template as one user message unless raw,
// after bos where the model wants it. Needs the model's words only, no runner.
Result<std::vector<engine::Token>> prompt_tokens(const engine::LanguageModel& model,
                                                 const std::string& text,
                                                 const PromptOptions& options);

// Tokenizer and chat template of a model file, without its weights.
Result<std::unique_ptr<engine::LanguageModel>> load_words(const std::string& path);

struct ContinueOptions {
  uint32_t tokens = 128;  // 0: none, the prompt is scored
  engine::Sampling sampling;
  std::vector<std::string> stops;
  uint64_t seed = 0;
  uint32_t top = 0;  // the likeliest tokens told at each place
  bool prompt_logprobs = true;
};

using TopTokens = std::vector<std::pair<engine::Token, double>>;

struct Continued {
  std::vector<engine::Token> prompt_ids;
  std::vector<double> prompt_logprobs;  // of all but the first; empty where not asked for
  std::vector<TopTokens> prompt_top;    // idem, where top > 0
  std::vector<engine::Token> ids;
  std::string text;
  std::vector<double> logprobs;
  std::vector<TopTokens> top;  // where top > 0
};

// limit: a prompt past the context, with both numbers. `query` runs it; stop() it to end early.
Result<Continued> continue_text(engine::Engine& engine, engine::Query& query,
                                std::vector<engine::Token> prompt, const ContinueOptions& options);

// { "prompt_ids", "prompt_logprobs" (first is null), "ids", "text", "logprobs", "top" (where asked
// for) }. `score` has no continuation, so its "top" is the prompt's, the first null.
OrderedJson to_json(const Continued& result, const ContinueOptions& options);

}  // namespace thinkd::daemon
