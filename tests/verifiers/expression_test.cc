// The Countdown checker: published verdicts, reasons in words, and an enumeration as an oracle.
#include "verifiers/expression.h"
#include "verifiers/countdown.h"

#include <random>

#include "base/limits.h"
#include "base/text.h"
#include "tests/support/catch.h"
#include "tests/verifiers/data.h"

using namespace thinkd;
using namespace thinkd::verifiers;

namespace {

Problem puzzle(std::vector<int64_t> numbers, int64_t target = 24, NumberUse use = NumberUse::all) {
  Problem problem;
  problem.numbers = std::move(numbers);
  problem.target = target;
  problem.use = use;
  return problem;
}

// An expression with its value as an unreduced fraction in plain integers: the oracle.
struct Known {
  std::string text;
  int64_t above;
  int64_t below;
};

}  // namespace

TEST_CASE("published verdicts on recorded Game-of-24 outputs") {
  const auto rows = rows_of("recorded/tot_game24.jsonl");
  REQUIRE(rows.size() > 1500);
  for (const auto& row : rows) {
    const std::string text = row["y"];
    const Verdict verdict =
        check_countdown(puzzle(row["numbers"].get<std::vector<int64_t>>()), text);
    INFO(text << " -> " << verdict.answer << ": " << verdict.reason);
    CHECK((verdict.outcome == Outcome::correct) == (row["r"] == 1));
  }
}

TEST_CASE("the verdict says why") {
  struct Case {
    std::vector<int64_t> numbers;
    std::string text;
    Outcome outcome;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {{4, 9, 10, 13}, "(10 - 4) * (13 - 9) = 24", Outcome::correct, ""},
      {{4, 9, 10, 13}, "Answer: (13 - 9) * (10 - 4)", Outcome::correct, ""},
      {{4, 9, 10, 13}, "so \\boxed{(13 - 9) \\times (10 - 4) = 24}", Outcome::correct, ""},
      {{4, 9, 10, 13}, "<answer> (13-9)*(10-4) </answer>", Outcome::correct, ""},
      {{4, 9, 10, 13}, "24 = (13 − 9) × (10 − 4)", Outcome::correct, ""},
      {{3, 3, 8, 8}, "8 / (3 - 8 / 3)", Outcome::correct, ""},
      {{3, 3, 8, 8}, "\\frac{8}{3 - \\frac{8}{3}}", Outcome::correct, ""},
      {{3, 3, 8, 8}, "8 ÷ [3 - {8 ÷ 3}]", Outcome::correct, ""},
      {{2, 12}, "2 x 12", Outcome::correct, ""},
      {{2, 26}, "-2 + 26", Outcome::correct, ""},
      {{4, 8, 1, 3}, "8 * 3 / 4", Outcome::wrong, "does not use 1"},
      {{4, 8}, "8 * 8 / 4 + 8", Outcome::wrong, "uses 8 3 times"},
      {{8, 4}, "8 * 4 - 8", Outcome::wrong, "uses 8 twice"},
      {{8, 3}, "8 * 4", Outcome::wrong, "uses 4, which is not given"},
      {{8, 3}, "8 * 3 - 1", Outcome::wrong, "uses 1, which is not given"},
      {{8, 8, 3}, "8 * 3", Outcome::wrong, "uses 8 only once"},
      {{20, 3}, "20 + 3 = 24", Outcome::wrong, "equals 23, not 24"},
      {{7, 2}, "7 / 2", Outcome::wrong, "equals 7/2, not 24"},
      {{5, 5, 1}, "1 / (5 - 5)", Outcome::wrong, "divides by zero"},
      {{8, 3}, "", Outcome::no_answer, "no expression found"},
      {{8, 3}, "8 * * 3", Outcome::parse_failed, "a number is missing"},
      {{8, 3}, "8 (3)", Outcome::parse_failed, "an operator is missing"},
      {{8, 3}, "(8 * 3", Outcome::parse_failed, "a bracket is not closed"},
      {{8, 3}, "(8 * 3]", Outcome::parse_failed, "a bracket closes that was not opened"},
      {{8, 3}, "8 ** 3", Outcome::parse_failed, "a number is missing"},
      {{8, 3}, "__import__('os')", Outcome::parse_failed, "'__import__('...' is not arithmetic"},
      {{8, 3}, "8 * 1.5 * 2", Outcome::parse_failed, "'1.5 * 2' is not a whole number"}};
  for (const Case& one : cases) {
    const Verdict verdict = check_countdown(puzzle(one.numbers), one.text);
    INFO(one.text);
    CHECK(outcome_name(verdict.outcome) == outcome_name(one.outcome));
    CHECK(verdict.reason == one.reason);
    CHECK(verdict.score == (one.outcome == Outcome::correct ? 1.0 : 0.0));
  }
  CHECK(check_countdown(puzzle({3, 8, 50}, 24, NumberUse::any), "3 * 8").outcome ==
        Outcome::correct);
  CHECK(check_countdown(puzzle({3, 8, 50}, 24, NumberUse::any), "3 * 8 + 3 - 3").reason ==
        "uses 3 3 times");
}

TEST_CASE("exact values against fractions computed on the way") {
  const unsigned seed = 20240607;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Known> pool;
    for (int i = 0; i < 4; ++i) {
      const auto n = static_cast<int64_t>(random() % 13 + 1);
      pool.push_back({std::to_string(n), n, 1});
    }
    bool zero = false;
    while (pool.size() > 1 && !zero) {
      std::swap(pool[random() % pool.size()], pool.back());
      const Known b = pool.back();
      pool.pop_back();
      std::swap(pool[random() % pool.size()], pool.back());
      Known& a = pool.back();
      const char sign = "+-*/"[random() % 4];
      zero = sign == '/' && b.above == 0;
      const int64_t above = sign == '+'   ? a.above * b.below + b.above * a.below
                            : sign == '-' ? a.above * b.below - b.above * a.below
                            : sign == '*' ? a.above * b.above
                                          : a.above * b.below;
      const int64_t below = sign == '/' ? a.below * b.above : a.below * b.below;
      a = {"(" + a.text + " " + sign + " " + b.text + ")", above, below};
      if (zero) {
        CHECK_FALSE(evaluate_expression(a.text).ok());
      }
    }
    if (zero) {
      continue;
    }
    const auto value = evaluate_expression(pool[0].text);
    INFO(pool[0].text);
    REQUIRE(value.ok());
    const size_t slash = value->value.find('/');
    const int64_t above = *parse_int(value->value.substr(0, slash));
    const int64_t below =
        slash == std::string::npos ? 1 : *parse_int(value->value.substr(slash + 1));
    CHECK(above * pool[0].below == pool[0].above * below);
    CHECK(value->numbers.size() == 4);
  }
}

TEST_CASE("precedence and association") {
  CHECK(evaluate_expression("2 + 3 * 4")->value == "14");
  CHECK(evaluate_expression("20 - 5 - 4")->value == "11");
  CHECK(evaluate_expression("24 / 4 / 2")->value == "3");
  CHECK(evaluate_expression("2 * -3 + 1")->value == "-5");
  CHECK(evaluate_expression("--3")->value == "3");
}

TEST_CASE("limits are named") {
  const std::string deep = std::string(limits::kExpressionDepth + 1, '(') + "1" +
                           std::string(limits::kExpressionDepth + 1, ')');
  CHECK(evaluate_expression(deep).status().code() == Code::limit);
  CHECK(evaluate_expression(std::string(limits::kExpressionBytes + 1, '1')).status().code() ==
        Code::limit);
  CHECK(evaluate_expression("99999999999999999999").status().code() == Code::limit);
}
