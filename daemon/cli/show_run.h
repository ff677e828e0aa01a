#pragma once
// Answers and runs for people. Pure functions.

#include <string>
#include <string_view>

#include "base/json.h"
#include "search/answer.h"
#include "search/runs.h"

namespace thinkd::daemon {

// The answer, how sure it is, a short bill, the seed and the run.
std::string shown_answer(const search::Answer& answer);

// One line of `runs list`.
std::string shown_run_line(const search::RunInfo& info);

// The head of `runs show`: state, time, question, answer.
std::string shown_run(const search::RunInfo& info);

// The branches of a tree (search/event.h, tree_of) below each other, children indented.
std::string shown_tree(const Json& tree);

// One line of at most so many bytes, cut between characters.
std::string shortened(std::string_view text, size_t bytes);

}  // namespace thinkd::daemon
