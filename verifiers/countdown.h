#pragma once
// Countdown and Game of 24: is this text an expression over the given numbers with the given value?
// Pure; the expression is read by expression.h.

#include <string_view>

#include "verifiers/verifier.h"

namespace thinkd::verifiers {

// correct, wrong ("uses 8 twice", "equals 23, not 24", "divides by zero"), no_answer, parse_failed.
Verdict check_countdown(const Problem& problem, std::string_view text);

}  // namespace thinkd::verifiers
