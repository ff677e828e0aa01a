#include "search/strategies/strategies.h"

#include <vector>

namespace thinkd::search {

std::span<const sdk::StrategyInfo> builtin_strategies() {
  static const std::vector<sdk::StrategyInfo> kStrategies = {greedy_strategy(), sample_strategy(),
                                                             self_consistency_strategy(),
                                                             best_of_n_strategy(), beam_strategy()};
  return kStrategies;
}

}  // namespace thinkd::search
