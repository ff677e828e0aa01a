#pragma once
// Runs another program to its end: an argument vector and never a shell, no standard input, this
// process's environment with a few variables set over it, no signal blocked and SIGPIPE not
// ignored.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thinkd::daemon {

struct Program {
  std::vector<std::string> arguments;                            // the first is looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // set over the inherited one
  std::function<bool()> keep_going;  // asked some times a second; empty: always
};

struct ProgramEnd {
  int exit_code = 0;   // 128 + signal where one ended it
  std::string output;  // the last 64 KiB of standard output and error
};

// Errors: not_found (no such program), io, cancelled (keep_going said no; the program is ended
// first).
Result<ProgramEnd> run_program(const Program& program);

}  // namespace thinkd::daemon
