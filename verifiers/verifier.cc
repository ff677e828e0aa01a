#include "verifiers/verifier.h"

#include "verifiers/countdown.h"
#include "verifiers/equivalence.h"
#include "verifiers/number.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

// Case, spaces and the full stop do not count.
std::string plain_words(std::string_view text) {
  std::string result;
  for (const char c : trim(text)) {
    if (is_space(c)) {
      if (!result.empty() && result.back() != ' ') {
        result += ' ';
      }
    } else {
      result += lower(c);
    }
  }
  while (!result.empty() && (result.back() == '.' || result.back() == ' ')) {
    result.pop_back();
  }
  return result;
}

Verdict settle(Verdict verdict, bool equal, std::string_view reference) {
  verdict.outcome = equal ? Outcome::correct : Outcome::wrong;
  verdict.score = equal ? 1.0 : 0.0;
  if (!equal) {
    verdict.reason =
        "'" + printable(verdict.answer, 80) + "' is not '" + printable(reference, 80) + "'";
  }
  return verdict;
}

Verdict invalid_gold(std::string_view reference) {
  Verdict verdict;
  verdict.outcome = Outcome::gold_invalid;
  verdict.reason = "the reference '" + printable(reference, 80) + "' cannot be read";
  return verdict;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::none:
      return "none";
    case Outcome::correct:
      return "correct";
    case Outcome::wrong:
      return "wrong";
    case Outcome::no_answer:
      return "no_answer";
    case Outcome::parse_failed:
      return "parse_failed";
    case Outcome::gold_invalid:
      return "gold_invalid";
  }
  return "?";
}

std::string_view role_name(Role role) {
  switch (role) {
    case Role::scorer:
      return "scorer";
    case Role::verifier:
      return "verifier";
    case Role::grader:
      return "grader";
  }
  return "?";
}

Verdict grade(const Task& task, std::string_view text) {
  const AnswerKind kind = task.problem.kind;
  if (kind == AnswerKind::countdown) {
    return check_countdown(task.problem, text);
  }
  // A data set's whole worked solution may stand as the reference: its answer is extracted alike.
  const Extraction gold = extract_answer(task.reference, kind);
  const std::string& reference = gold.answer;
  if (!gold.found || (kind == AnswerKind::math && !readable(reference)) ||
      (kind == AnswerKind::number && !parse_number(reference))) {
    return invalid_gold(task.reference);
  }
  const AnswerKind wanted = kind == AnswerKind::math ? kind_of_reference(reference) : kind;
  const Extraction extraction = extract_answer(text, wanted);
  Verdict verdict;
  verdict.answer = extraction.answer;
  if (!extraction.found) {
    verdict.outcome = Outcome::no_answer;
    verdict.reason = extraction.reason;
    return verdict;
  }
  switch (kind) {
    case AnswerKind::number: {
      const auto number = parse_number(verdict.answer);
      if (!number) {
        verdict.outcome = Outcome::parse_failed;
        verdict.reason = "'" + printable(verdict.answer, 80) + "' is not a number";
        return verdict;
      }
      return settle(std::move(verdict), number->matches(*parse_number(reference)), reference);
    }
    case AnswerKind::choice:
      return settle(verdict, verdict.answer == reference, reference);
    case AnswerKind::text:
      return settle(verdict, plain_words(verdict.answer) == plain_words(reference), reference);
    default:
      return settle(verdict, equivalent(verdict.answer, reference), reference);
  }
}

}  // namespace thinkd::verifiers
