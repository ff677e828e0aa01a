// Self-consistency (Wang et al. 2022, arXiv 2203.11171): n independent samples, the answer that
// most of them reach. Equal answers are one class, by the task's own equality; a tie goes to the
// class seen first; a sample without an answer abstains. Each is a candidate as it ends, so the
// vote so far is always there.

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct SelfConsistencyParams {
  uint32_t n = 8;
  static Fields<SelfConsistencyParams> fields() {
    return {integer("n", &SelfConsistencyParams::n, 1, kMaxSamples, "samples that vote")};
  }
};

void self_consistency(Host& host, const Problem& problem, const SelfConsistencyParams& params) {
  host.answer_by(AnswerRule::vote);
  std::vector<Branch> samples = host.fork(host.open(problem.messages), params.n);
  for (const Branch& sample : host.extend_as_finished(samples, problem.sample_options())) {
    host.emit(Candidate{sample});
  }
}

}  // namespace

StrategyInfo self_consistency_strategy() {
  return strategy<SelfConsistencyParams>("self_consistency",
                                         "n samples, the answer that most of them reach",
                                         "Wang et al. 2022, arXiv 2203.11171", self_consistency);
}

}  // namespace thinkd::search
