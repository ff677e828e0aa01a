// Best of n (Cobbe et al. 2021, arXiv 2110.14168): n independent samples, each scored; the answer
// is the best one's, or that of the class with the greatest sum of weights (Li et al. 2022, arXiv
// 2206.02336). A score may be any number, so a vote weighs it by its sigmoid where nothing else is
// asked for. A text is scored whole when it ends, or at the end of each of its steps (`aggregate`);
// the samples are the same.

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct BestOfNParams {
  uint32_t n = 8;
  std::string scorer;
  Aggregate aggregate = Aggregate::automatic;
  std::string step = kBlankLine;
  AnswerRule choice = AnswerRule::best_score;
  Weighting weight = Weighting::sigmoid;
  static Fields<BestOfNParams> fields() {
    return {integer("n", &BestOfNParams::n, 1, kMaxSamples, "samples drawn"),
            text("scorer", &BestOfNParams::scorer,
                 "what ranks them; empty: the model's own scorer, else mean_logprob"),
            aggregate_field(&BestOfNParams::aggregate),
            text("step", &BestOfNParams::step, "what ends a step; default a blank line"),
            sdk::choice(
                "final", &BestOfNParams::choice,
                {{"best", AnswerRule::best_score}, {"weighted_vote", AnswerRule::weighted_vote}},
                "the best sample's answer, or the class of equal answers that weighs most"),
            sdk::choice("weight", &BestOfNParams::weight,
                        {{"sigmoid", Weighting::sigmoid}, {"raw", Weighting::raw}},
                        "a score's weight in the vote; raw suits scores that are chances")};
  }
};

void score_whole(Host& host, const Problem& problem, const BestOfNParams& params,
                 std::vector<Branch> samples) {
  for (const Branch& sample : host.extend_as_finished(samples, problem.sample_options())) {
    host.emit(Candidate{sample, host.score(sample, params.scorer)});
  }
}

// All samples take their next step together. Where the longest one meets the limit on tokens, the
// others' step is cut and scored there too.
void score_steps(Host& host, const Problem& problem, const BestOfNParams& params,
                 Aggregate aggregate, std::vector<Branch> samples) {
  ExtendOptions options = problem.sample_options();
  const uint32_t most = options.max_tokens;
  options.stop.push_back(params.step);
  std::vector<StepScores> scores(samples.size());
  while (!samples.empty()) {
    options.max_tokens = most - longest(samples);
    host.extend(samples, options);
    const std::vector<double> now = host.score(samples, params.scorer);
    std::vector<Branch> open;
    std::vector<StepScores> of_open;
    for (size_t i = 0; i < samples.size(); ++i) {
      scores[i].add(now[i]);
      if (samples[i].total_tokens() >= most || ended(host, samples[i], problem, params.step)) {
        host.emit(Candidate{samples[i], scores[i].as(aggregate)});
      } else {
        open.push_back(std::move(samples[i]));
        of_open.push_back(scores[i]);
      }
    }
    samples = std::move(open);
    scores = std::move(of_open);
  }
}

void best_of_n(Host& host, const Problem& problem, const BestOfNParams& params) {
  host.answer_by(params.choice, params.weight);
  std::vector<Branch> samples = host.fork(host.open(problem.messages), params.n);
  const Aggregate aggregate = aggregate_for(params.aggregate, problem, params.scorer);
  if (aggregate == Aggregate::last) {
    score_whole(host, problem, params, std::move(samples));
  } else {
    score_steps(host, problem, params, aggregate, std::move(samples));
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
