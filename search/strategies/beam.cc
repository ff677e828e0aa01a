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
  std::string step = "\n\n";
  std::string scorer;
  bool distinct = true;
  AnswerRule choice = AnswerRule::best_score;
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
        boolean("distinct", &BeamParams::distinct, "equal steps of one parent count once"),
        sdk::choice(
            "final", &BeamParams::choice,
            {{"best", AnswerRule::best_score}, {"weighted_vote", AnswerRule::weighted_vote}},
            "the best candidate's answer, or the class of equal answers that weighs most")};
  }
};

// A step that one of the user's own stop texts ended is the end of the branch.
bool ended(Host& host, const Branch& branch, const Problem& problem, const std::string& step) {
  if (branch.finished() || problem.sampling.stops.empty() || branch.end() != End::stop_text) {
    return branch.finished();
  }
  const auto drawn = static_cast<uint32_t>(branch.tokens().size());
  const std::string whole = host.text(branch, branch.length() - drawn, drawn);
  return !whole.substr(std::min(whole.size(), branch.text().size())).starts_with(step);
}

// Prunes what repeats a sibling; `share` branches in a row have one parent.
void prune_twins(Host& host, std::vector<Branch>& branches, size_t share) {
  std::set<std::pair<size_t, std::vector<uint32_t>>> seen;
  std::vector<Branch> first;
  for (size_t i = 0; i < branches.size(); ++i) {
    if (seen.emplace(i / share, branches[i].tokens()).second) {
      first.push_back(std::move(branches[i]));
    } else {
      host.pruned(branches[i]);
    }
  }
  branches = std::move(first);
}

// Indices, the greatest score first.
std::vector<size_t> ranked(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

uint32_t longest(const std::vector<Branch>& branches) {
  uint32_t tokens = 0;
  for (const Branch& branch : branches) {
    tokens = std::max(tokens, branch.total_tokens());
  }
  return tokens;
}

void beam(Host& host, const Problem& problem, const BeamParams& params) {
  if (params.width > params.n) {
    throw Failed(THINKD_INVALID, "beam: width is " + std::to_string(params.width) +
                                     "; it must be at most n, " + std::to_string(params.n));
  }
  host.answer_by(params.choice, Weighting::sigmoid);
  const ExtendOptions whole = problem.sample_options();
  ExtendOptions one_step = whole;
  one_step.stop.push_back(params.step);
  uint32_t places = params.width;
  size_t share = params.n;  // children of one parent
  std::vector<Branch> beams = host.fork(host.open(problem.messages), params.n);
  for (uint32_t step = 1;; ++step) {
    const bool last = step == params.max_steps;
    ExtendOptions options = last ? whole : one_step;
    options.max_tokens = whole.max_tokens - longest(beams);
    host.extend(beams, options);
    if (params.distinct) {
      prune_twins(host, beams, share);
    }
    const bool spent = last || longest(beams) >= whole.max_tokens;
    const std::vector<double> scores = host.score(beams, params.scorer);
    std::vector<Branch> kept;
    for (const size_t i : ranked(scores)) {
      if (kept.size() == places) {
        host.pruned(beams[i]);
      } else if (spent || ended(host, beams[i], problem, params.step)) {
        host.emit(Candidate{beams[i], scores[i]});
        --places;
      } else {
        kept.push_back(std::move(beams[i]));
      }
    }
    if (kept.empty()) {
      return;
    }
    share = params.n / params.width;
    std::vector<size_t> parents;
    for (size_t i = 0; i < kept.size() * share; ++i) {
      parents.push_back(i / share);
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
