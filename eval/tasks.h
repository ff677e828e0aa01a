#pragma once
// Data files to problems. The adapter is named, or guessed from the file's name and first record:
//
//   task          record                                              graded by
//   gsm8k         {"question", "answer": "... #### N"}                the number
//   math          {"id"?, "question", "answer"}: any mathematics      equivalence
//   number, choice, text   the same record, where it is named         number, letter, words
//   countdown     {"id"?, "numbers": [..], "target": N, "use"?}       the Countdown checker
//   countdown_cd3 {"input": "30,100,93", "output": "23"}              the Countdown checker
//   game24        CSV: Rank,Puzzles,...                               the Countdown checker, target
//   24
//
// "problem" is read as "question", "expected_answer" as "answer", "unique_id" as "id"; answers and
// ids may be numbers. A record without an id is named by its row (game24: its rank). Every row is
// checked; an error names file, line and member. The prompt texts are part of the manifest by
// kPromptVersion. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "verifiers/verifier.h"

namespace thinkd::eval {

inline constexpr uint32_t kPromptVersion = 1;

struct Problem {
  std::string id;
  uint64_t row = 0;        // 1-based; Rank in 24.csv
  std::string prompt;      // what the model reads
  std::string task;        // what search::Request calls it: gsm8k, countdown, math, choice, text
  verifiers::Task graded;  // with the reference; for the grader alone
};

struct TaskFile {
  std::string task;
  std::vector<Problem> problems;
};

std::vector<std::string_view> known_tasks();

// `name`: the file's name; `task`: "" guesses. invalid lists the known tasks and what was seen.
Result<TaskFile> read_problems(std::string_view name, std::string_view text, std::string_view task);

struct Rows {
  uint64_t first = 1;
  uint64_t last = UINT64_MAX;
};
Result<Rows> parse_range(std::string_view text);  // "A-B", both inside, 1 <= A <= B

}  // namespace thinkd::eval
