#pragma once
// The question of a Countdown problem, from its numbers and target alone: the same words in ask,
// solve and eval. Part of eval's kPromptVersion. Pure.

#include <string>

#include "verifiers/verifier.h"

namespace thinkd::search {

std::string countdown_prompt(const verifiers::Problem& problem);

}  // namespace thinkd::search
