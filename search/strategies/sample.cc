// One plain sample. It forks once so that it draws what the first sample of best_of_n and
// self_consistency draws with the same seed: branch 0.0.

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct SampleParams {
  static Fields<SampleParams> fields() { return {}; }
};

void sample(Host& host, const Problem& problem, const SampleParams&) {
  host.answer_by(AnswerRule::first);
  std::vector<Branch> samples = host.fork(host.open(problem.messages), 1);
  host.extend(samples, problem.sample_options());
  host.emit(Candidate{samples.front()});
}

}  // namespace

StrategyInfo sample_strategy() {
  return strategy<SampleParams>("sample", "one plain sample",
                                "temperature and nucleus sampling (Holtzman et al. 2020)", sample);
}

}  // namespace thinkd::search
