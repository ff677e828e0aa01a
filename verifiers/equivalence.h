#pragma once
// Are two answers the same answer? Texts are parsed (never run) into numbers, expressions, lists,
// tuples, intervals, sets, matrices, equations, inequalities or words, and compared by rules:
// rationals exactly; other closed forms to 38 of 50 digits; expressions with variables as
// identities at several fixed points, to the same precision. In doubt the answer is no: a false yes
// costs more than a false no.
// Bounded: both texts by limits::kAnswerBytes, nesting, number sizes and evaluation steps by small
// constants; a text past one of them is compared as text. Thread-safe; nothing throws.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd::verifiers {

// `answer` is an extracted answer, `gold` the reference. Symmetric but for one reading: "3,75" in
// the answer may be 3.75 where the gold is a decimal.
bool equivalent(std::string_view answer, std::string_view gold);

// Extraction by the kind of the reference, then equivalent().
bool answers_match(std::string_view text, std::string_view gold);

// True where the gold can be read as an answer at all (is equivalent to itself).
bool readable(std::string_view gold);

// The class of each answer, numbered from 0 in order of first appearance; -1 for an abstention
// (an empty answer). Answers whose canonical texts are equal share a class at once; the others are
// compared with the first answer of each class, so the cost is answers x classes in the worst case.
std::vector<int> classify(std::span<const std::string> answers);

}  // namespace thinkd::verifiers
