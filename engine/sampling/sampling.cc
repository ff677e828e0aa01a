#include "engine/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace thinkd::engine {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();
constexpr float kGreedyBelow = 1e-6f;  // no two different logits are closer than that in the law

struct Scored {
  Token token;
  float logit;
};

// Larger logit first; equal logits by token id.
bool before(const Scored& a, const Scored& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

float usable(float logit) { return std::isfinite(logit) ? logit : kNever; }

// log of the sum of exp over all usable logits.
double log_sum_exp(std::span<const float> logits, float largest) {
  double sum = 0;
  for (float logit : logits) {
    sum += std::exp(usable(logit) - largest);
  }
  return largest + std::log(sum);
}

float largest_of(std::span<const float> logits) {
  float largest = kNever;
  for (float logit : logits) {
    largest = std::max(largest, usable(logit));
  }
  return largest;
}

// The k largest, in order, found by growing partial sorts: k is small or the tail is needed rarely.
void sort_front(std::vector<Scored>& items, size_t sorted, size_t wanted) {
  wanted = std::min(wanted, items.size());
  if (wanted > sorted) {
    std::partial_sort(items.begin() + static_cast<std::ptrdiff_t>(sorted),
                      items.begin() + static_cast<std::ptrdiff_t>(wanted), items.end(), before);
  }
}

void penalize(std::vector<float>& logits, std::span<const Token> history, float penalty) {
  std::vector<Token> seen(history.begin(), history.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (Token token : seen) {
    if (token < logits.size()) {
      float& logit = logits[token];
      logit = logit > 0 ? logit / penalty : logit * penalty;
    }
  }
}

// How many of `items` (weights relative to the first, total mass `total`) nucleus sampling keeps:
// the smallest front whose mass reaches top_p (Holtzman et al. 2020).
size_t nucleus(std::vector<Scored>& items, double total, double top_p, float largest) {
  size_t sorted = 0;
  double mass = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == sorted) {
      const size_t wanted = sorted == 0 ? 64 : sorted * 8;
      sort_front(items, sorted, wanted);
      sorted = std::min(wanted, items.size());
    }
    mass += std::exp(items[i].logit - largest);
    if (mass >= top_p * total) {
      return i + 1;
    }
  }
  return items.size();
}

Token draw_from(std::vector<Scored>& kept, float largest, double uniform) {
  std::sort(kept.begin(), kept.end(),
            [](const Scored& a, const Scored& b) { return a.token < b.token; });
  double total = 0;
  for (const Scored& item : kept) {
    total += std::exp(item.logit - largest);
  }
  const double target = uniform * total;
  double mass = 0;
  Token last = kept.front().token;
  for (const Scored& item : kept) {
    const double weight = std::exp(item.logit - largest);
    if (weight > 0) {
      last = item.token;
      mass += weight;
      if (mass > target) {
        break;
      }
    }
  }
  return last;
}

Token sample(std::vector<float> logits, const Sampling& sampling, double uniform) {
  // Taken from the largest first: whatever the temperature, the largest stays 0 and nothing
  // overflows.
  const float most = largest_of(logits);
  std::vector<Scored> items;
  items.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = (usable(logits[i]) - most) / sampling.temperature;
    if (logit > kNever) {
      items.push_back({static_cast<Token>(i), logit});
    }
  }
  constexpr float largest = 0;
  if (sampling.top_k > 0 && sampling.top_k < items.size()) {
    sort_front(items, 0, sampling.top_k);
    items.resize(sampling.top_k);
  }
  if (sampling.top_p < 1.0f) {
    double total = 0;
    for (const Scored& item : items) {
      total += std::exp(item.logit - largest);
    }
    items.resize(nucleus(items, total, sampling.top_p, largest));
  }
  if (sampling.min_p > 0.0f) {
    std::erase_if(
        items, [&](const Scored& item) { return std::exp(item.logit - largest) < sampling.min_p; });
  }
  return draw_from(items, largest, uniform);
}

}  // namespace

std::optional<Draw> draw_token(std::span<const float> logits, const Sampling& sampling,
                               std::span<const Token> history, double uniform) {
  const float largest = largest_of(logits);
  if (!std::isfinite(largest)) {
    return std::nullopt;
  }
  std::vector<float> changed;
  std::span<const float> used = logits;
  const bool samples = sampling.temperature >= kGreedyBelow;
  if (sampling.repetition_penalty != 1.0f || samples) {
    changed.assign(logits.begin(), logits.end());
    if (sampling.repetition_penalty != 1.0f) {
      penalize(changed, history, sampling.repetition_penalty);
    }
    used = changed;
  }
  Draw draw;
  if (samples) {
    draw.token = sample(std::move(changed), sampling, uniform);
  } else {
    float best = kNever;
    for (size_t i = 0; i < used.size(); ++i) {
      if (usable(used[i]) > best) {
        best = used[i];
        draw.token = static_cast<Token>(i);
      }
    }
  }
  draw.logprob = usable(logits[draw.token]) - log_sum_exp(logits, largest);
  return draw;
}

TokenLogprobs token_logprobs(std::span<const float> logits, Token token, uint32_t top_k) {
  TokenLogprobs result;
  const float largest = largest_of(logits);
  if (!std::isfinite(largest)) {
    result.logprob = result.entropy = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  const double norm = log_sum_exp(logits, largest);
  result.logprob = usable(logits[token]) - norm;
  for (float logit : logits) {
    const double logprob = usable(logit) - norm;
    if (logprob > -std::numeric_limits<double>::infinity()) {
      result.entropy -= std::exp(logprob) * logprob;
    }
  }
  if (top_k > 0) {
    std::vector<Scored> items(logits.size());
    for (size_t i = 0; i < items.size(); ++i) {
      items[i] = {static_cast<Token>(i), usable(logits[i])};
    }
    sort_front(items, 0, top_k);
    for (size_t i = 0; i < std::min<size_t>(top_k, items.size()); ++i) {
      result.top.emplace_back(items[i].token, items[i].logit - norm);
    }
  }
  return result;
}

}  // namespace thinkd::engine
