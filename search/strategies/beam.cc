// Beam search over steps under a scorer of steps (Snell et al. 2024, arXiv 2408.03314,
// section 5.2): n steps are drawn, the best `width` of them kept, and each kept one is continued n
// / width times. What papers leave open, and what is done here: a finished branch among the best
// keeps its place, so the beam narrows by one and the search ends when every place is taken; a step
// drawn twice from one parent counts once (`distinct`); ties go to the branch drawn first; the last
// of `max_steps` runs to the end of the text.

#include <algorithm>
#include <numeric>
#include <set>

#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {

using namespace sdk;

namespace {

struct BeamParams {
  uint32_t n = 16;
  uint32_t width = 4;
  uint32_t max_steps = 40;
  std::string step = kBlankLine;
  std::string scorer;
  Aggregate aggregate = Aggregate::automatic;
  bool distinct = true;
  AnswerRule choice = AnswerRule::best_score;
  Weighting weight = Weighting::sigmoid;
  static Fields<BeamParams> fields() {
    return {
        integer("n", &BeamParams::n, 1, kMaxSamples, "steps drawn at a time, over all kept beams"),
        integer("width", &BeamParams::width, 1, kMaxSamples,
                "beams kept after each step; at most n"),
        integer("max_steps", &BeamParams::max_steps, 1, 4096,
                "steps of a branch; the last one runs to the end of its text"),
        text("step", &BeamParams::step, "what ends a step; default a blank line"),
        text("scorer", &BeamParams::scorer,
             "what ranks them; empty: the model's own scorer, else mean_logprob"),
        aggregate_field(&BeamParams::aggregate),
        boolean("distinct", &BeamParams::distinct, "equal steps of one parent count once"),
        sdk::choice(
            "final", &BeamParams::choice,
            {{"best", AnswerRule::best_score}, {"weighted_vote", AnswerRule::weighted_vote}},
            "the best candidate's answer, or the class of equal answers that weighs most"),
        sdk::choice("weight", &BeamParams::weight,
                    {{"sigmoid", Weighting::sigmoid}, {"raw", Weighting::raw}},
                    "a score's weight in the vote; raw suits scores that are chances")};
  }
};

// Prunes what repeats a sibling; `share` branches in a row have one parent.
void prune_twins(Host& host, std::vector<Branch>& branches, std::vector<StepScores>& scores,
                 size_t share) {
  std::set<std::pair<size_t, std::vector<uint32_t>>> seen;
  std::vector<Branch> first;
  std::vector<StepScores> theirs;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (seen.emplace(i / share, branches[i].tokens()).second) {
      first.push_back(std::move(branches[i]));
      theirs.push_back(scores[i]);
    } else {
      host.pruned(branches[i]);
    }
  }
  branches = std::move(first);
  scores = std::move(theirs);
}

// Indices, the greatest score first.
std::vector<size_t> ranked(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

void beam(Host& host, const Problem& problem, const BeamParams& params) {
  if (params.width > params.n) {
    throw Failed(THINKD_INVALID, "beam: width is " + std::to_string(params.width) +
                                     "; it must be at most n, " + std::to_string(params.n));
  }
  host.answer_by(params.choice, params.weight);
  const ExtendOptions whole = problem.sample_options();
  ExtendOptions one_step = whole;
  one_step.stop.push_back(params.step);
  uint32_t places = params.width;
  size_t share = params.n;  // children of one parent
  const Aggregate aggregate = aggregate_for(params.aggregate, problem, params.scorer);
  std::vector<Branch> beams = host.fork(host.open(problem.messages), params.n);
  std::vector<StepScores> steps(params.n);  // of each beam
  for (uint32_t step = 1;; ++step) {
    const bool last = step == params.max_steps;
    ExtendOptions options = last ? whole : one_step;
    options.max_tokens = whole.max_tokens - longest(beams);
    host.extend(beams, options);
    if (params.distinct) {
      prune_twins(host, beams, steps, share);
    }
    const bool spent = last || longest(beams) >= whole.max_tokens;
    std::vector<double> scores = host.score(beams, params.scorer);
    for (size_t i = 0; i < beams.size(); ++i) {
      steps[i].add(scores[i]);
      scores[i] = steps[i].as(aggregate);
    }
    std::vector<Branch> kept;
    std::vector<StepScores> theirs;
    for (const size_t i : ranked(scores)) {
      if (kept.size() == places) {
        host.pruned(beams[i]);
      } else if (spent || ended(host, beams[i], problem, params.step)) {
        host.emit(Candidate{beams[i], scores[i]});
        --places;
      } else {
        kept.push_back(std::move(beams[i]));
        theirs.push_back(steps[i]);
      }
    }
    if (kept.empty()) {
      return;
    }
    share = params.n / params.width;
    std::vector<size_t> parents;
    steps.clear();
    for (size_t i = 0; i < kept.size() * share; ++i) {
      parents.push_back(i / share);
      steps.push_back(theirs[i / share]);
    }
    beams = host.fork(kept, parents);
  }
}

}  // namespace

StrategyInfo beam_strategy() {
  return strategy<BeamParams>("beam", "step by step, the best few of n continuations kept",
                              "Snell et al. 2024, arXiv 2408.03314, section 5.2", beam);
}

}  // namespace thinkd::search
