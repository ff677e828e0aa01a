#pragma once
// Finds the answer in what a model wrote. Scanners written by hand: linear in the text, no
// recursion, no regular expressions. Rules in the order in which they are tried:
//   1. the last \boxed{} or \fbox{}; earlier boxes join it where only "and", "or" or commas stand
//      between them. A last box that is empty or never closed is no answer, whatever stood before;
//   2. a line "#### answer";
//   3. the last "answer is ...", "answer: ..." (and its like in a few languages);
//   4. the whole text, where it is one short line without prose;
//   5. for math and number: the last number, with its sign, fraction, percent and unit.
// Conventions: docs/verifiers.md.

#include <cstdint>
#include <string>
#include <string_view>

namespace thinkd::verifiers {

enum class AnswerKind : uint8_t {
  math,       // any mathematical answer: numbers, expressions, sets, intervals, short words
  number,     // one number
  choice,     // one letter A to J
  countdown,  // an arithmetic expression, "= target" allowed behind it
  text,       // the words themselves
};

std::string_view kind_name(AnswerKind kind);

struct Extraction {
  bool found = false;
  std::string answer;  // as written, trimmed, at most limits::kAnswerBytes
  std::string reason;  // where not found: why
};

Extraction extract_answer(std::string_view text, AnswerKind kind);

// What kind of answer a reference is; math where in doubt.
AnswerKind kind_of_reference(std::string_view reference);

}  // namespace thinkd::verifiers
