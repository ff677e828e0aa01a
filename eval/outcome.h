#pragma once
// What became of one unit. The grader's outcomes, and what kept it from being asked.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace thinkd::eval {

enum class Outcome : uint8_t {
  correct,
  wrong,
  no_answer,     // the text ended by itself and gives no answer
  parse_failed,  // an answer is there but is not what the problem asks for
  token_limit,   // not correct, and the chosen text was cut by a limit on tokens
  timeout,       // not correct, and the deadline ended the run
  error,         // the run failed: `reason` says how
  gold_invalid,  // the reference cannot be read: left out of accuracy
};
inline constexpr size_t kOutcomes = 8;
inline constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "correct",     "wrong",   "no_answer", "parse_failed",
    "token_limit", "timeout", "error",     "gold_invalid"};

inline std::string_view to_string(Outcome outcome) {
  return kOutcomeNames[static_cast<size_t>(outcome)];
}

inline std::optional<Outcome> outcome_of(std::string_view name) {
  for (size_t i = 0; i < kOutcomes; ++i) {
    if (kOutcomeNames[i] == name) {
      return static_cast<Outcome>(i);
    }
  }
  return std::nullopt;
}

}  // namespace thinkd::eval
