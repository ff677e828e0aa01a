#pragma once
// The command line as a table: commands with their words, flags and help, and the function that
// runs each. The table is plain data; parse() hands it to the parser library and gives back what
// was typed.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/cli/arguments.h"

namespace thinkd::daemon {

struct Flag {
  std::string_view name;   // without dashes; a single letter is a short flag
  std::string_view value;  // what follows it, "N"; "" for a switch
  std::string_view help;
  bool many = false;  // may be given more than once
};

struct Word {             // a positional argument
  std::string_view name;  // "QUESTION"
  std::string_view help;
  bool required = false;
  bool many = false;  // one or more
};

using RunCommand = int (*)(const Arguments& arguments);  // gives the exit code

struct Command {
  std::string_view name;  // "ask", "runs list"
  std::string_view help;
  std::vector<Word> words;
  std::vector<Flag> flags;  // beside --help and those that every command has
  RunCommand run = nullptr;
};

struct Group {  // of commands with two words
  std::string_view name;
  std::string_view help;
};

// All commands of this build, in the order of the help page.
std::vector<Command> commands();
std::vector<Group> groups();

struct Parsed {
  const Command* command = nullptr;  // none: the exit code is all there is left to do
  Arguments arguments;
  int exit_code = 0;
};

// Help and version are printed here, errors too.
Parsed parse(int argc, const char* const* argv, std::span<const Command> commands,
             std::span<const Group> groups);

// "thinkd 0.1.0+abc (isa: avx2, portable)"
std::string version_line();

}  // namespace thinkd::daemon
