#pragma once
// A text as steps, and the scores of its steps as one. Thread: the strategy's.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/sdk/host.h"
#include "plugins/sdk/params.h"

namespace thinkd::sdk {

inline constexpr const char* kBlankLine = "\n\n";  // what ends a step by default

// How the scores of a branch's steps become the branch's own. Process verifiers are read in all of
// these ways: last, min and prod by Lightman et al. 2023 (arXiv 2305.20050) and Snell et al. 2024
// (arXiv 2408.03314), the running mean by STEP (arXiv 2601.09093). `automatic` is mean where the
// scorer is the model's own, which judges steps, and last where it is another, which judges texts.
enum class Aggregate : uint8_t { automatic, last, min, prod, mean };

template <class P>
Field<P> aggregate_field(Aggregate P::* member) {
  return choice("aggregate", member,
                {{"auto", Aggregate::automatic},
                 {"last", Aggregate::last},
                 {"min", Aggregate::min},
                 {"prod", Aggregate::prod},
                 {"mean", Aggregate::mean}},
                "what the scores of a sample's steps make; auto: mean for the model's own scorer, "
                "else last");
}

// Never automatic.
inline Aggregate aggregate_for(Aggregate asked, const Problem& problem, std::string_view scorer) {
  if (asked != Aggregate::automatic) {
    return asked;
  }
  const bool own = scorer == "step_scorer" || (scorer.empty() && problem.step_scorer);
  return own ? Aggregate::mean : Aggregate::last;
}

// One branch's scores so far.
class StepScores {
 public:
  void add(double score) {
    last_ = score;
    least_ = count_ == 0 ? score : std::min(least_, score);
    product_ *= score;
    sum_ += score;
    ++count_;
  }
  double as(Aggregate aggregate) const {
    switch (aggregate) {
      case Aggregate::min:
        return least_;
      case Aggregate::prod:
        return product_;
      case Aggregate::mean:
        return count_ == 0 ? 0 : sum_ / count_;
      case Aggregate::automatic:
      case Aggregate::last:
        break;
    }
    return last_;
  }

 private:
  double last_ = 0;
  double least_ = 0;
  double product_ = 1;
  double sum_ = 0;
  uint32_t count_ = 0;
};

// Of a branch that was just extended: it ends here, by itself or by a stop text of the user's own
// and not by `step`. So does one to which nothing was added.
inline bool ended(Host& host, const Branch& branch, const Problem& problem, std::string_view step) {
  if (branch.finished() || branch.tokens().empty()) {
    return true;
  }
  const std::vector<std::string>& stops = problem.sampling.stops;
  if (stops.empty() || branch.end() != End::stop_text) {
    return false;
  }
  if (std::any_of(stops.begin(), stops.end(),
                  [&](const std::string& stop) { return step.starts_with(stop); })) {
    return true;  // no step can end but by the user's stop
  }
  const auto drawn = static_cast<uint32_t>(branch.tokens().size());
  const std::string whole = host.text(branch, branch.length() - drawn, drawn);
  return !std::string_view(whole)
              .substr(std::min(whole.size(), branch.text().size()))
              .starts_with(step);
}

// Tokens that the longest of them has generated.
inline uint32_t longest(std::span<const Branch> branches) {
  uint32_t tokens = 0;
  for (const Branch& branch : branches) {
    tokens = std::max(tokens, branch.total_tokens());
  }
  return tokens;
}

}  // namespace thinkd::sdk
