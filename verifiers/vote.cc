#include "verifiers/vote.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace thinkd::verifiers {
namespace {

// One class of the count.
struct Entry {
  int answer_class;
  size_t first;
  size_t votes;
  double weight;
};

std::vector<Entry> count(std::span<const int> classes, std::span<const double> weights) {
  std::vector<Entry> entries;
  std::vector<size_t> slot;  // class -> entry
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) {
      continue;
    }
    const auto at = static_cast<size_t>(classes[i]);
    if (at >= slot.size()) {
      slot.resize(at + 1, SIZE_MAX);
    }
    if (slot[at] == SIZE_MAX) {
      slot[at] = entries.size();
      entries.push_back({classes[i], i, 0, 0.0});
    }
    Entry& entry = entries[slot[at]];
    ++entry.votes;
    entry.weight += weights.empty() ? 1.0 : weights[i];
  }
  return entries;
}

Tally settle(const std::vector<Entry>& entries) {
  Tally tally;
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    tally.ballots += entry.votes;
    if (best == nullptr || entry.weight > best->weight) {
      best = &entry;
    }
  }
  if (best == nullptr) {
    return tally;
  }
  for (const Entry& entry : entries) {
    if (entry.weight == best->weight) {
      tally.tied.push_back(entry.answer_class);
    }
  }
  tally.winner = best->answer_class;
  tally.candidate = best->first;
  return tally;
}

double share_of_votes(const std::vector<Entry>& entries, int winner, size_t n) {
  for (const Entry& entry : entries) {
    if (entry.answer_class == winner) {
      return static_cast<double>(entry.votes) / static_cast<double>(n);
    }
  }
  return 0.0;
}

double weigh(double score, Weighting weighting) {
  if (std::isnan(score)) {
    return 0.0;
  }
  return weighting == Weighting::raw ? score : 1.0 / (1.0 + std::exp(-score));
}

}  // namespace

Tally majority(std::span<const int> classes) {
  const std::vector<Entry> entries = count(classes, {});
  Tally tally = settle(entries);
  tally.share = share_of_votes(entries, tally.winner, classes.size());
  return tally;
}

Tally weighted_vote(std::span<const int> classes, std::span<const double> scores,
                    Weighting weighting) {
  assert(classes.size() == scores.size());
  std::vector<double> weights(scores.size());
  std::transform(scores.begin(), scores.end(), weights.begin(),
                 [weighting](double score) { return weigh(score, weighting); });
  const std::vector<Entry> entries = count(classes, weights);
  Tally tally = settle(entries);
  double total = 0.0;
  double won = 0.0;
  bool negative = false;
  for (size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] >= 0) {
      total += weights[i];
      won += classes[i] == tally.winner ? weights[i] : 0.0;
      negative = negative || weights[i] < 0.0;
    }
  }
  const bool usable = !negative && total > 0.0 && std::isfinite(total);
  tally.share = usable ? won / total : share_of_votes(entries, tally.winner, classes.size());
  return tally;
}

size_t best_of(std::span<const double> scores) {
  size_t best = SIZE_MAX;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i]) && (best == SIZE_MAX || scores[i] > scores[best])) {
      best = i;
    }
  }
  return best;
}

}  // namespace thinkd::verifiers
