#pragma once
// What a strategy is asked, and how it is to sample where the user did not say otherwise.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/sdk/run_records.h"
#include "plugins/sdk/values.h"

namespace thinkd::sdk {

struct ExtendOptions {
  std::vector<std::string> stop{};
  uint32_t max_tokens = 0;  // 0: up to the context
  Sampling sampling{};
  bool hidden_at_stop = false;
};

inline constexpr float kSampleTemperature = 0.8f;
inline constexpr float kSampleTopP = 0.95f;
inline constexpr uint32_t kSampleTokens = 1024;

struct Problem {
  std::vector<Message> messages;  // system, task prompt, question: what to open
  std::string question;           // as asked
  std::string task;               // its name; empty: none
  uint32_t context = 0;           // tokens a branch may have
  bool step_scorer = false;       // the model has a scorer of its own: the default one
  SamplingOverrides sampling;     // what the user said

  explicit Problem(RunRequest request)
      : messages(std::move(request.messages)),
        question(std::move(request.question)),
        task(std::move(request.task)),
        context(request.context),
        step_scorer(request.step_scorer),
        sampling(std::move(request.sampling)) {}

  // One whole sample, the way the user wants it.
  ExtendOptions sample_options() const {
    ExtendOptions options = greedy_options();
    options.sampling.temperature = sampling.temperature.value_or(kSampleTemperature);
    options.sampling.top_p = sampling.top_p.value_or(kSampleTopP);
    options.sampling.top_k = sampling.top_k.value_or(0);
    options.sampling.min_p = sampling.min_p.value_or(0.0f);
    return options;
  }

  // The likeliest token each time, whatever temperature was asked for.
  ExtendOptions greedy_options() const {
    ExtendOptions options;
    options.max_tokens = sampling.max_tokens.value_or(kSampleTokens);
    options.stop = sampling.stops;
    options.sampling.repetition_penalty = sampling.repetition_penalty.value_or(1.0f);
    return options;
  }
};

}  // namespace thinkd::sdk
