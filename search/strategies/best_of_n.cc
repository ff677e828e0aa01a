// Best of n (Cobbe et al. 2021, arXiv 2110.14168): n independent samples, each scored whole; the
// answer is the best one's, or that of the class with the greatest sum of weights (Li et al. 2022,
// arXiv 2206.02336). A score may be any number, so a vote weighs it by its sigmoid.

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct BestOfNParams {
  uint32_t n = 8;
  std::string scorer;
  AnswerRule choice = AnswerRule::best_score;
  static Fields<BestOfNParams> fields() {
    return {integer("n", &BestOfNParams::n, 1, kMaxSamples, "samples drawn"),
            text("scorer", &BestOfNParams::scorer,
                 "what ranks them; empty: the model's own scorer, else mean_logprob"),
            sdk::choice(
                "final", &BestOfNParams::choice,
                {{"best", AnswerRule::best_score}, {"weighted_vote", AnswerRule::weighted_vote}},
                "the best sample's answer, or the class of equal answers that weighs most")};
  }
};

void best_of_n(Host& host, const Problem& problem, const BestOfNParams& params) {
  host.answer_by(params.choice, Weighting::sigmoid);
  std::vector<Branch> samples = host.fork(host.open(problem.messages), params.n);
  for (const Branch& sample : host.extend_as_finished(samples, problem.sample_options())) {
    host.emit(Candidate{sample, host.score(sample, params.scorer)});
  }
}

}  // namespace

StrategyInfo best_of_n_strategy() {
  return strategy<BestOfNParams>(
      "best_of_n", "n samples, the one with the best score",
      "Cobbe et al. 2021, arXiv 2110.14168; weighted_vote: Li et al. 2022, "
      "arXiv 2206.02336",
      best_of_n);
}

}  // namespace thinkd::search
