#pragma once
// The built-in strategies. Each is one file beside this one, written against plugins/sdk alone;
// this header lists them for the room that runs them.

#include <span>

#include "plugins/sdk/strategy.h"

namespace thinkd::search {

sdk::StrategyInfo greedy_strategy();
sdk::StrategyInfo sample_strategy();
sdk::StrategyInfo self_consistency_strategy();
sdk::StrategyInfo best_of_n_strategy();
sdk::StrategyInfo beam_strategy();

// All of them, in the order in which they are listed to people. Made at the first call, never
// changed.
std::span<const sdk::StrategyInfo> builtin_strategies();

}  // namespace thinkd::search
