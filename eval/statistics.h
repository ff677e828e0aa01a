#pragma once
// Estimators for sampled evaluations. Pure functions on counts; formulas stand in
// docs/evaluation.md. Wilson 1927; Chen et al. 2021 (arXiv 2107.03374, pass@k); Miller 2024 (arXiv
// 2411.00640, clustered and paired errors); Liu et al. 2024 (arXiv 2412.13147, pass^k).

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace thinkd::eval {

inline constexpr double kZ95 = 1.959963984540054;  // 97.5 % point of the normal law

using Interval = std::pair<double, double>;

// c right of n; [0, 1] where n is 0.
Interval wilson(uint64_t correct, uint64_t n, double z = kZ95);

// Standard error of a share of n independent verdicts: sqrt(p (1 - p) / n); 0 where n is 0.
double binomial_error(uint64_t correct, uint64_t n);

// One problem's n samples, of which c are right.
struct Tally {
  uint64_t n = 0;
  uint64_t correct = 0;
};

// Mean over problems of the problem's mean, with the standard error of that mean: problems are the
// clusters, so samples of one problem are not taken for independent. Problems with n = 0 are left
// out.
struct Estimate {
  uint64_t problems = 0;
  double mean = 0;
  double standard_error = 0;  // 0 with fewer than two problems
  Interval ci95 = {0, 1};     // mean -+ z se, inside [0, 1]; [0, 1] with fewer than two problems
};
Estimate clustered(std::span<const Tally> problems);

// Unbiased; none where n < k or k = 0.
std::optional<double> pass_at(uint64_t n, uint64_t correct, uint64_t k);   // any of k is right
std::optional<double> pass_all(uint64_t n, uint64_t correct, uint64_t k);  // all of k are (pass^k)
// Mean over problems; none where it is undefined for one of them, or there is no problem.
std::optional<double> mean_pass_at(std::span<const Tally> problems, uint64_t k);
std::optional<double> mean_pass_all(std::span<const Tally> problems, uint64_t k);

// Expected correctness of the best-scored of k samples drawn without replacement; ties go to the
// lowest index. Precondition: as many scores as verdicts. None where n < k or k = 0.
std::optional<double> best_of_k(std::span<const uint8_t> correct, std::span<const double> scores,
                                uint64_t k);

// Two-sided exact McNemar test; the arguments are the problems that only one of the two solved.
double mcnemar(uint64_t only_first, uint64_t only_second);

// Mean of a - b over problems that both have, and its errors. Precondition: equal lengths.
struct PairedDifference {
  double difference = 0;
  double standard_error = 0;           // paired
  double standard_error_unpaired = 0;  // of two independent means, each variance over n
  Interval ci95 = {-1, 1};             // from the paired one
};
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b);

}  // namespace thinkd::eval
