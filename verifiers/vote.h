#pragma once
// How an answer is chosen from n candidates. Inputs are plain numbers: the answer class of each
// candidate (equivalence.h: classify; -1 abstains) and, for the weighted rules, its score.
// Self-consistency: Wang et al. 2022 (arXiv 2203.11171); weighted vote: Li et al. 2022
// (arXiv 2206.02336); best of n: Cobbe et al. 2021 (arXiv 2110.14168).
// Pure functions. A candidate whose score is NaN never wins best-of and adds nothing to a vote.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace thinkd::verifiers {

// What a vote came to. Without any ballot winner is -1 and everything else empty.
struct Tally {
  int winner = -1;        // class; ties go to the class seen first
  size_t candidate = 0;   // the candidate that stands for it: the first of the winner's class
  std::vector<int> tied;  // every class with the greatest weight, in order of appearance
  double share = 0.0;     // the winner's part of all ballots cast or of n: see below
  size_t ballots = 0;     // candidates that did not abstain
};

// share = votes of the winner / n, abstentions included in n: agreement among all samples.
Tally majority(std::span<const int> classes);

// How a score becomes a weight.
enum class Weighting : uint8_t { raw, sigmoid };

// share = weight of the winner / weight of all, where no weight is negative; else as in majority.
// Precondition: scores is as long as classes.
Tally weighted_vote(std::span<const int> classes, std::span<const double> scores,
                    Weighting weighting);

// The candidate with the greatest score; ties go to the lowest index. SIZE_MAX where there is none.
size_t best_of(std::span<const double> scores);

}  // namespace thinkd::verifiers
