#include "verifiers/countdown.h"

#include <map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "verifiers/expression.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

std::string times_word(size_t times) {
  return times == 1 ? "once" : times == 2 ? "twice" : std::to_string(times) + " times";
}

// Why the numbers used are not the numbers given; empty where they are.
std::string misuse(const Problem& problem, const std::vector<int64_t>& used) {
  std::map<int64_t, std::pair<size_t, size_t>> counts;  // number -> given, used
  for (const int64_t number : problem.numbers) {
    ++counts[number].first;
  }
  for (const int64_t number : used) {
    ++counts[number].second;
  }
  for (const auto& [number, count] : counts) {
    const auto& [given, taken] = count;
    if (given == 0) {
      return "uses " + std::to_string(number) + ", which is not given";
    }
    if (taken > given) {
      return "uses " + std::to_string(number) + " " + times_word(taken) +
             (given > 1 ? ", given " + times_word(given) : "");
    }
  }
  for (const auto& [number, count] : counts) {
    if (problem.use == NumberUse::all && count.second < count.first) {
      return count.second == 0
                 ? "does not use " + std::to_string(number)
                 : "uses " + std::to_string(number) + " only " + times_word(count.second);
    }
  }
  return {};
}

}  // namespace

Verdict check_countdown(const Problem& problem, std::string_view text) {
  Verdict verdict;
  verdict.answer = find_expression(text);
  if (verdict.answer.empty()) {
    verdict.outcome = Outcome::no_answer;
    verdict.reason = "no expression found";
    return verdict;
  }
  const Result<ExpressionValue> value = evaluate_expression(verdict.answer);
  if (verdict.answer.size() > limits::kAnswerBytes) {
    verdict.answer = printable(verdict.answer, limits::kAnswerBytes);
  }
  if (!value.ok()) {
    verdict.reason = value.status().message();
    verdict.outcome = verdict.reason == "divides by zero" ? Outcome::wrong : Outcome::parse_failed;
    return verdict;
  }
  verdict.reason = misuse(problem, value->numbers);
  if (verdict.reason.empty() && value->value != std::to_string(problem.target)) {
    verdict.reason =
        "equals " + printable(value->value, 64) + ", not " + std::to_string(problem.target);
  }
  verdict.outcome = verdict.reason.empty() ? Outcome::correct : Outcome::wrong;
  verdict.score = verdict.outcome == Outcome::correct ? 1.0 : 0.0;
  return verdict;
}

}  // namespace thinkd::verifiers
