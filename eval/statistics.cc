#include "eval/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace thinkd::eval {
namespace {

// The mean and the standard error of it.
struct Moments {
  double mean = 0;
  double standard_error = 0;
};

Moments moments(std::span<const double> values) {
  Moments result;
  const auto n = static_cast<double>(values.size());
  if (values.empty()) {
    return result;
  }
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() < 2) {
    return result;
  }
  double squares = 0;
  for (const double value : values) {
    squares += (value - result.mean) * (value - result.mean);
  }
  result.standard_error = std::sqrt(squares / (n - 1) / n);
  return result;
}

std::optional<double> mean_over(std::span<const Tally> problems, uint64_t k,
                                std::optional<double> (*estimate)(uint64_t, uint64_t, uint64_t)) {
  double sum = 0;
  for (const Tally& problem : problems) {
    const std::optional<double> value = estimate(problem.n, problem.correct, k);
    if (!value) {
      return std::nullopt;
    }
    sum += *value;
  }
  if (problems.empty()) {
    return std::nullopt;
  }
  return sum / static_cast<double>(problems.size());
}

}  // namespace

Interval wilson(uint64_t correct, uint64_t n, double z) {
  assert(correct <= n);
  if (n == 0) {
    return {0, 1};
  }
  const auto count = static_cast<double>(n);
  const double share = static_cast<double>(correct) / count;
  const double scale = 1 + z * z / count;
  const double middle = (share + z * z / (2 * count)) / scale;
  const double half =
      z / scale * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
  // At the ends the exact bound is 0 or 1; rounding would leave 1e-17.
  return {correct == 0 ? 0 : std::max(0.0, middle - half),
          correct == n ? 1 : std::min(1.0, middle + half)};
}

double binomial_error(uint64_t correct, uint64_t n) {
  if (n == 0) {
    return 0;
  }
  const double share = static_cast<double>(correct) / static_cast<double>(n);
  return std::sqrt(share * (1 - share) / static_cast<double>(n));
}

Estimate clustered(std::span<const Tally> problems) {
  std::vector<double> means;
  for (const Tally& problem : problems) {
    assert(problem.correct <= problem.n);
    if (problem.n > 0) {
      means.push_back(static_cast<double>(problem.correct) / static_cast<double>(problem.n));
    }
  }
  const Moments found = moments(means);
  Estimate result;
  result.problems = means.size();
  result.mean = found.mean;
  result.standard_error = found.standard_error;
  if (means.size() >= 2) {
    const double half = kZ95 * found.standard_error;
    result.ci95 = {std::max(0.0, found.mean - half), std::min(1.0, found.mean + half)};
  }
  return result;
}

std::optional<double> pass_at(uint64_t n, uint64_t correct, uint64_t k) {
  if (k == 0 || n < k || correct > n) {
    return std::nullopt;
  }
  if (n - correct < k) {
    return 1.0;
  }
  double none = 1;  // C(n - c, k) / C(n, k), as a product
  for (uint64_t i = n - correct + 1; i <= n; ++i) {
    none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  }
  return 1 - none;
}

std::optional<double> pass_all(uint64_t n, uint64_t correct, uint64_t k) {
  if (k == 0 || n < k || correct > n) {
    return std::nullopt;
  }
  double all = 1;
  for (uint64_t i = 0; i < k; ++i) {
    all *= i < correct ? static_cast<double>(correct - i) / static_cast<double>(n - i) : 0.0;
  }
  return all;
}

std::optional<double> mean_pass_at(std::span<const Tally> problems, uint64_t k) {
  return mean_over(problems, k, pass_at);
}

std::optional<double> mean_pass_all(std::span<const Tally> problems, uint64_t k) {
  return mean_over(problems, k, pass_all);
}

std::optional<double> best_of_k(std::span<const uint8_t> correct, std::span<const double> scores,
                                uint64_t k) {
  assert(correct.size() == scores.size());
  const size_t n = scores.size();
  if (k == 0 || n < k) {
    return std::nullopt;
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto value = [&](size_t i) { return std::isnan(scores[i]) ? -INFINITY : scores[i]; };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return value(a) != value(b) ? value(a) > value(b) : a < b; });
  // The j-th best is the best of the draw with probability C(n-1-j, k-1) / C(n, k).
  double weight = static_cast<double>(k) / static_cast<double>(n);
  double sum = 0;
  for (size_t j = 0; j + k <= n; ++j) {
    sum += correct[order[j]] != 0 ? weight : 0;
    if (j + 1 < n) {
      weight *= static_cast<double>(n - j - k) / static_cast<double>(n - 1 - j);
    }
  }
  return sum;
}

double mcnemar(uint64_t only_first, uint64_t only_second) {
  const uint64_t n = only_first + only_second;
  const uint64_t fewer = std::min(only_first, only_second);
  double log_term = -static_cast<double>(n) * std::log(2.0);  // of C(n, i) / 2^n
  double tail = 0;
  for (uint64_t i = 0; i <= fewer; ++i) {
    tail += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - i)) - std::log(static_cast<double>(i + 1));
  }
  return std::min(1.0, 2 * tail);
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size());
  std::vector<double> differences(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    differences[i] = a[i] - b[i];
  }
  const Moments paired = moments(differences);
  PairedDifference result;
  result.difference = paired.mean;
  result.standard_error = paired.standard_error;
  if (a.size() >= 2) {
    // Over n, not n - 1: for verdicts of 0 and 1 this is the binomial form.
    const auto n = static_cast<double>(a.size());
    result.standard_error_unpaired =
        std::hypot(moments(a).standard_error, moments(b).standard_error) * std::sqrt((n - 1) / n);
  }
  if (a.size() >= 2) {
    const double half = kZ95 * paired.standard_error;
    result.ci95 = {paired.mean - half, paired.mean + half};
  }
  return result;
}

}  // namespace thinkd::eval
