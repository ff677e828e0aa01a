// A model's text: extraction of every kind, expressions, equivalence of mathematics. The first line
// is the reference, the rest the answer.

#include <string>

#include "tests/fuzz/target.h"
#include "verifiers/answer.h"
#include "verifiers/countdown.h"
#include "verifiers/equivalence.h"
#include "verifiers/expression.h"

using namespace thinkd;
using namespace thinkd::verifiers;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::string_view gold = text.substr(0, text.find('\n'));
  const std::string_view answer = text.substr(std::min(gold.size() + 1, text.size()));
  for (const AnswerKind kind : {AnswerKind::math, AnswerKind::number, AnswerKind::choice,
                                AnswerKind::countdown, AnswerKind::text}) {
    static_cast<void>(extract_answer(answer, kind));
  }
  static_cast<void>(answers_match(answer, gold));
  if (readable(gold)) {
    fuzz::expect(equivalent(gold, gold), "a readable reference is equal to itself");
  }
  static_cast<void>(equivalent(answer, gold));
  static_cast<void>(evaluate_expression(gold));
  Problem problem;
  problem.numbers = {3, 5, 8, 9};
  problem.target = 24;
  static_cast<void>(check_countdown(problem, answer));
  return 0;
}
