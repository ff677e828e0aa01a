#pragma once
// What judges a candidate, in three roles that never mix:
//   scorer    ranks candidates (a number, no claim of correctness): mean log-prob, a reward model;
//   verifier  chooses among candidates from the problem alone: a Countdown checker, a code run;
//   grader    compares with the reference answer, after the choice was made.
// The separation is by type: check() takes a Problem, which holds no reference; only grade() takes
// a Task. A search is given Problems, so nothing it calls can see the gold. Objects are immutable
// after construction: every call is const, safe from many threads at once, bounded in time and
// memory, and treats candidate text as hostile input. Nothing throws.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verifiers/answer.h"

namespace thinkd::verifiers {

// How a Countdown expression may use the numbers of its problem.
enum class NumberUse : uint8_t { all, any };  // every number once; every number at most once

// A question without its answer.
struct Problem {
  std::string name;  // the task's name, "gsm8k", or the problem's id; only for messages
  std::string question;
  AnswerKind kind = AnswerKind::math;
  std::vector<int64_t> numbers;  // Countdown and Game of 24 only
  int64_t target = 0;            // idem
  NumberUse use = NumberUse::all;
};

// A question with its answer; only graders see one.
struct Task {
  Problem problem;
  std::string reference;  // empty where the problem alone decides (Countdown)
};

// Below every log-prob, and finite: scores may be summed.
inline constexpr double kNoLogprob = -std::numeric_limits<float>::max();

// One finished sample.
struct Candidate {
  std::string text;          // generated text, prompt excluded
  double sum_logprob = 0.0;  // natural logarithms, over generated tokens
  uint32_t tokens = 0;       // generated tokens

  // Of nothing there is no mean: then it is a number below that of any text.
  double mean_logprob() const { return tokens == 0 ? kNoLogprob : sum_logprob / tokens; }
};

enum class Outcome : uint8_t {
  none,  // a score only; nothing is claimed
  correct,
  wrong,
  no_answer,     // the text gives no answer: an abstention in a vote
  parse_failed,  // an answer is there but cannot be read as what the problem asks for
  gold_invalid,  // the reference cannot be read: an error of the data, never a pass
};

std::string_view outcome_name(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::none;
  double score = 0.0;  // higher is better; 1 and 0 for correct and all else
  std::string reason;  // why, in words: "uses 8 twice"
  std::string answer;  // the extracted answer, as written
};

enum class Role : uint8_t { scorer, verifier, grader };

std::string_view role_name(Role role);

// Scores or verifies from the problem alone.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual Verdict check(const Problem& problem, const Candidate& candidate) const = 0;
};

// Compares with the reference, after the choice.
class Grader {
 public:
  virtual ~Grader() = default;
  virtual Verdict grade(const Task& task, std::string_view text) const = 0;
};

// The default grader of a task's kind: Countdown by its checker, a choice by its letter, text by
// folded comparison, numbers and mathematics by equivalence.
Verdict grade(const Task& task, std::string_view text);

}  // namespace thinkd::verifiers
