// The estimators against recorded samples (values published with them), enumeration and closed
// forms.

#include "eval/statistics.h"

#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace thinkd::eval;

namespace {

struct Votes {
  std::vector<uint8_t> correct;
  std::vector<double> scores;
};

std::vector<Votes> recorded() {
  std::ifstream file(THINKD_SOURCE_DIR "/tests/data/recorded/qwen_math_votes.jsonl");
  std::vector<Votes> out;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    Votes votes;
    for (const bool right : json.at("score")) {
      votes.correct.push_back(right ? 1 : 0);
    }
    votes.scores = json.at("pred_score").get<std::vector<double>>();
    out.push_back(std::move(votes));
  }
  REQUIRE(out.size() == 99);
  return out;
}

std::vector<Tally> tallies() {
  std::vector<Tally> out;
  for (const Votes& votes : recorded()) {
    Tally tally{votes.correct.size(), 0};
    for (const uint8_t right : votes.correct) {
      tally.correct += right;
    }
    out.push_back(tally);
  }
  return out;
}

bool near(double a, double b) { return std::abs(a - b) < 1e-6; }

// The best-scored of every subset of size k, averaged: what best_of_k claims to be.
double best_by_enumeration(const Votes& votes, int k) {
  double sum = 0;
  int subsets = 0;
  const auto n = static_cast<uint32_t>(votes.scores.size());
  for (uint32_t mask = 0; mask < (1U << n); ++mask) {
    if (std::popcount(mask) != k) {
      continue;
    }
    int best = -1;
    for (uint32_t i = 0; i < n; ++i) {
      if ((mask >> i & 1U) != 0 && (best < 0 || votes.scores[i] > votes.scores[best])) {
        best = static_cast<int>(i);
      }
    }
    sum += votes.correct[best];
    ++subsets;
  }
  return sum / subsets;
}

}  // namespace

TEST_CASE("pass@k and pass^k of recorded samples") {
  const std::vector<Tally> problems = tallies();
  const double any[] = {0.909091, 0.932179, 0.950505, 0.959596};
  const double all[] = {0.909091, 0.886003, 0.868398, 0.858586};
  for (int i = 0; i < 4; ++i) {
    INFO("k = " << (1 << i));
    CHECK(near(mean_pass_at(problems, 1U << i).value(), any[i]));
    CHECK(near(mean_pass_all(problems, 1U << i).value(), all[i]));
  }
  CHECK_FALSE(mean_pass_at(problems, 9));
  CHECK_FALSE(mean_pass_all(problems, 9));
}

TEST_CASE("pass@k is undefined below k samples and exact at the ends") {
  CHECK_FALSE(pass_at(3, 1, 4));
  CHECK_FALSE(pass_at(3, 1, 0));
  CHECK_FALSE(mean_pass_at({}, 1));
  CHECK(pass_at(4, 0, 4) == 0.0);
  CHECK(pass_at(4, 1, 4) == 1.0);
  CHECK(near(*pass_at(4, 1, 2), 0.5));
  CHECK(near(*pass_all(4, 2, 2), 1.0 / 6));
  CHECK(pass_all(4, 1, 2) == 0.0);
  CHECK(near(*pass_at(100'000, 1, 1), 1e-5));
}

TEST_CASE("best of k in closed form, by enumeration and as recorded") {
  const double expected[] = {0.909091, 0.927128, 0.933261, 0.935498, 0.936508, 0, 0, 0.939394};
  const std::vector<Votes> problems = recorded();
  for (int k = 1; k <= 8; ++k) {
    double closed = 0;
    double counted = 0;
    for (const Votes& votes : problems) {
      closed += best_of_k(votes.correct, votes.scores, k).value();
      counted += best_by_enumeration(votes, k);
    }
    INFO("k = " << k);
    CHECK(std::abs(closed - counted) < 1e-9);
    if (expected[k - 1] > 0) {
      CHECK(near(closed / 99, expected[k - 1]));
    }
  }
  const std::vector<uint8_t> right = {1, 0};
  CHECK(best_of_k(right, std::vector<double>{NAN, -9}, 2) == 0.0);
  CHECK_FALSE(best_of_k(right, std::vector<double>{1, 2}, 3));
}

TEST_CASE("errors: independent, clustered, paired") {
  CHECK(near(binomial_error(720, 792), 0.010215));
  const Estimate estimate = clustered(tallies());
  CHECK(estimate.problems == 99);
  CHECK(near(estimate.mean, 0.909091));
  CHECK(near(estimate.standard_error, 0.025242));
  CHECK(near(estimate.ci95.first, 0.909091 - 1.959964 * 0.0252422));
  CHECK(clustered(std::vector<Tally>{{4, 4}}).ci95 == Interval(0, 1));
  CHECK(clustered(std::vector<Tally>{{0, 0}, {2, 1}}).problems == 1);

  // GSM8K, 1,019 problems: 167 only the first solves, 113 only the second, 242 both.
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < 1019; ++i) {
    a.push_back(i < 242 + 167 ? 1 : 0);
    b.push_back(i < 242 || (i >= 409 && i < 409 + 113) ? 1 : 0);
  }
  const PairedDifference difference = paired_difference(a, b);
  CHECK(near(difference.difference, 0.052993));
  CHECK(near(difference.standard_error, 0.016345));
  CHECK(near(difference.standard_error_unpaired, 0.021414));
  CHECK(near(mcnemar(167, 113), 0.001493));
}

TEST_CASE("McNemar's exact test at its ends") {
  CHECK(mcnemar(0, 0) == 1.0);
  CHECK(near(mcnemar(1, 0), 1.0));
  CHECK(near(mcnemar(0, 6), 2.0 / 64));
  CHECK(near(mcnemar(3, 5), mcnemar(5, 3)));
  CHECK(mcnemar(4, 4) == 1.0);
  CHECK(mcnemar(100'000, 100'000) == 1.0);
}

TEST_CASE("Wilson's interval") {
  // 8 of 10: the published textbook value.
  const Interval interval = wilson(8, 10);
  CHECK(near(interval.first, 0.490162));
  CHECK(near(interval.second, 0.943318));
  CHECK(wilson(0, 0) == Interval(0, 1));
  CHECK(wilson(0, 20).first == 0);
  CHECK(near(wilson(0, 20).second, 3.841458820694124 / (20 + 3.841458820694124)));
  CHECK(wilson(20, 20).second == 1);
  // Its ends solve (c/n - p)^2 = z^2 p (1 - p) / n.
  for (const double p : {wilson(3, 17).first, wilson(3, 17).second}) {
    CHECK(std::abs(std::pow(3.0 / 17 - p, 2) - kZ95 * kZ95 * p * (1 - p) / 17) < 1e-12);
  }
}
