// The likeliest token, each time.

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct GreedyParams {
  static Fields<GreedyParams> fields() { return {}; }
};

void greedy(Host& host, const Problem& problem, const GreedyParams&) {
  host.answer_by(AnswerRule::first);
  Branch branch = host.open(problem.messages);
  host.extend(branch, problem.greedy_options());
  host.emit(Candidate{branch});
}

}  // namespace

StrategyInfo greedy_strategy() {
  return strategy<GreedyParams>("greedy", "one answer, the likeliest token each time",
                                "greedy decoding; temperature is 0 whatever was asked for", greedy);
}

}  // namespace thinkd::search
