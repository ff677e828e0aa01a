// Votes against the published averages over all size-k subsets of eight recorded samples a problem.
#include "verifiers/vote.h"

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "tests/support/catch.h"
#include "tests/verifiers/data.h"

using namespace thinkd::verifiers;

namespace {

struct Pool {
  std::vector<int> classes;  // by exact text
  std::vector<double> right;
  std::vector<double> scores;
};

std::vector<Pool> pools() {
  std::vector<Pool> result;
  for (const auto& row : rows_of("recorded/qwen_math_votes.jsonl")) {
    Pool pool;
    std::map<std::string, int> known;
    for (const std::string text : row["pred"]) {
      pool.classes.push_back(known.emplace(text, static_cast<int>(known.size())).first->second);
    }
    for (const bool right : row["score"]) {
      pool.right.push_back(right ? 1.0 : 0.0);
    }
    pool.scores = row["pred_score"].get<std::vector<double>>();
    result.push_back(pool);
  }
  return result;
}

using Rule = std::function<double(const Pool&)>;

double average(const std::vector<Pool>& all, int k, const Rule& rule) {
  double sum = 0.0;
  size_t count = 0;
  for (const Pool& pool : all) {
    for (unsigned mask = 1; mask < 256; ++mask) {
      if (__builtin_popcount(mask) != k) {
        continue;
      }
      Pool part;
      for (size_t i = 0; i < 8; ++i) {
        if ((mask >> i & 1U) != 0) {
          part.classes.push_back(pool.classes[i]);
          part.right.push_back(pool.right[i]);
          part.scores.push_back(pool.scores[i]);
        }
      }
      sum += rule(part);
      ++count;
    }
  }
  return sum / static_cast<double>(count);
}

double shared(const Pool& p) {
  const Tally tally = majority(p.classes);
  double sum = 0.0;
  for (const int tied : tally.tied) {
    for (size_t i = 0; i < p.classes.size(); ++i) {
      if (p.classes[i] == tied) {
        sum += p.right[i];
        break;
      }
    }
  }
  return sum / static_cast<double>(tally.tied.size());
}

}  // namespace

TEST_CASE("votes reproduce the averages over all subsets") {
  const std::vector<Pool> all = pools();
  REQUIRE(all.size() == 99);
  struct Case {
    const char* name;
    Rule rule;
    std::vector<double> expected;  // k = 1, 2, 3, 4, 5, 8
  };
  const auto weighted = [](Weighting weighting) {
    return [weighting](const Pool& p) {
      return p.right[weighted_vote(p.classes, p.scores, weighting).candidate];
    };
  };
  const std::vector<Case> cases = {
      {"majority, first seen",
       [](const Pool& p) { return p.right[majority(p.classes).candidate]; },
       {0.909091, 0.910895, 0.915584, 0.921645, 0.918110, 0.929293}},
      {"majority, shared", shared, {0.909091, 0.909091, 0.915164, 0.919300, 0.920509, 0.924242}},
      {"best of k",
       [](const Pool& p) { return p.right[best_of(p.scores)]; },
       {0.909091, 0.927128, 0.933261, 0.935498, 0.936508, 0.939394}},
      {"raw weights",
       weighted(Weighting::raw),
       {0.909091, 0.927128, 0.930375, 0.930880, 0.933622, 0.939394}},
      {"sigmoid weights",
       weighted(Weighting::sigmoid),
       {0.909091, 0.927128, 0.927128, 0.935065, 0.935967, 0.939394}}};
  const std::vector<int> sizes = {1, 2, 3, 4, 5, 8};
  for (const Case& one : cases) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      INFO(one.name << ", k = " << sizes[i]);
      CHECK(std::fabs(average(all, sizes[i], one.rule) - one.expected[i]) < 1e-6);
    }
  }
}

TEST_CASE("abstentions, ties and broken scores") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(majority({}).winner == -1);
  const std::vector<int> nobody = {-1, -1};
  CHECK(majority(nobody).winner == -1);
  CHECK(majority(nobody).share == 0.0);

  const std::vector<int> classes = {-1, 1, 0, 1, 0};
  const Tally tally = majority(classes);
  CHECK(tally.winner == 1);  // seen first
  CHECK(tally.candidate == 1);
  CHECK(tally.tied == std::vector<int>{1, 0});
  CHECK(tally.share == 0.4);
  CHECK(tally.ballots == 4);

  const std::vector<double> scores = {9.0, 1.0, nan, 1.0, 3.0};
  const Tally weighted = weighted_vote(classes, scores, Weighting::raw);
  CHECK(weighted.winner == 0);
  CHECK(weighted.share == 0.6);
  CHECK(best_of(scores) == 0);
  CHECK(best_of(std::vector<double>{nan, -2.0, nan}) == 1);
  CHECK(best_of(std::vector<double>{nan}) == SIZE_MAX);
  const std::vector<double> huge = {-1e308, 1e308, 800.0, -800.0, 0.0};
  CHECK(std::isfinite(weighted_vote(classes, huge, Weighting::sigmoid).share));
}
