#include "daemon/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>

#include "base/log.h"
#include "base/version.h"
#include "daemon/cli/output.h"
#include "daemon/exit_code.h"
#include "engine/kernels/kernels.h"

namespace thinkd::daemon {
namespace {

// Every command takes these, so that a script may add them without knowing which.
const Flag kCommon[] = {
    {"model", "PATH|NAME", "the model: a GGUF file, or a name that `models list` shows"},
    {"config", "FILE", "TOML file of settings; flags win over it"},
    {"store", "DIR", "folder of the store (default $XDG_STATE_HOME/thinkd)"},
    {"seed", "N", "seed of all random numbers (default: drawn at random and shown)"},
    {"threads", "N", "kernel threads (default: one a core)"},
    {"compute", "MODE", "auto, or f32: activations stay in float, the reference path"},
    {"isa", "NAME", "instruction set of the kernels (default: the best here)"},
    {"kv-pool", "BYTES", "memory for keys and values (default: a quarter, at most 4 GiB)"},
    {"kv", "TYPE", "type of keys and values: f16 or f32"},
    {"json", "", "machine-readable output, and nothing else on standard output"},
    {"v", "", "tell more on standard error"},
};

// The library marks a lone "{}", its empty list, with a second text.
CLI::callback_t taker(const std::string& name, Arguments& into) {
  return [name, &into](const CLI::results_t& texts) {
    const bool marked = texts.size() == 2 && texts[0] == "{}" && texts[1] == "%%";
    for (size_t i = 0; i < (marked ? 1 : texts.size()); ++i) {
      into.add(name, texts[i]);
    }
    return true;
  };
}

void add_flag(CLI::App& app, const Flag& flag, Arguments& into, const char* group) {
  const std::string name(flag.name);
  const std::string dashes = (name.size() == 1 ? "-" : "--") + name;
  if (flag.value.empty()) {
    app.add_flag_callback(
           dashes, [name, &into] { into.add(name, ""); }, std::string(flag.help))
        ->disable_flag_override()
        ->group(group);
    return;
  }
  CLI::Option* option = app.add_option(dashes, taker(name, into), std::string(flag.help));
  option->type_name(std::string(flag.value))->group(group);
  if (flag.many) {
    option->take_all();
  }
}

void add_word(CLI::App& app, const Word& word, Arguments& into) {
  const std::string name(word.name);
  CLI::Option* option = app.add_option(name, taker(name, into), std::string(word.help));
  option->type_name("")->required(word.required);
  if (word.many) {
    option->expected(1, 1 << 20)->allow_extra_args()->take_all();
  }
}

CLI::App* fill(CLI::App& parent, std::string_view name, const Command& command, Arguments& into) {
  CLI::App* app = parent.add_subcommand(std::string(name), std::string(command.help));
  for (const Word& word : command.words) {
    add_word(*app, word, into);
  }
  for (const Flag& flag : command.flags) {
    add_flag(*app, flag, into, "Flags");
  }
  for (const Flag& flag : kCommon) {
    add_flag(*app, flag, into, "Common flags");
  }
  app->get_help_ptr()->group("Flags");
  return app;
}

std::map<const CLI::App*, const Command*> fill_all(CLI::App& root,
                                                   std::span<const Command> commands,
                                                   std::span<const Group> groups, Arguments& into) {
  std::map<const CLI::App*, const Command*> leaves;
  std::map<std::string_view, CLI::App*> parents;
  for (const Command& command : commands) {
    const size_t space = command.name.find(' ');
    const std::string_view first = command.name.substr(0, space);
    if (space == std::string_view::npos) {
      parents[first] = fill(root, first, command, into);
      leaves[parents[first]] = &command;
      continue;
    }
    CLI::App*& parent = parents[first];
    for (const Group& group : groups) {
      if (parent == nullptr && group.name == first) {
        parent = root.add_subcommand(std::string(first), std::string(group.help));
      }
    }
    leaves[fill(*parent, command.name.substr(space + 1), command, into)] = &command;
  }
  return leaves;
}

// What stands where a command should, and is none; the library would only say that one is missing.
std::string unknown_command(int argc, const char* const* argv, std::span<const Command> commands) {
  std::string typed;
  for (int i = 1; i < argc && argv[i][0] != '-' && argv[i][0] != '\0'; ++i) {
    typed += (typed.empty() ? "" : " ") + std::string(argv[i]);
    const auto is = [&](const Command& command) { return command.name == typed; };
    const auto begins = [&](const Command& command) {
      return command.name.starts_with(typed + " ");
    };
    if (std::any_of(commands.begin(), commands.end(), is)) {
      return {};
    }
    if (std::none_of(commands.begin(), commands.end(), begins)) {
      return typed;
    }
  }
  return {};
}

// An empty text for a flag says nothing that a missing flag would not say, and is what an unset
// variable of a script leaves.
std::string empty_flag(const Command& command, const Arguments& arguments) {
  const auto is_empty = [&](const Flag& flag) {
    const std::vector<std::string> texts = arguments.texts(flag.name);
    return !flag.value.empty() && std::find(texts.begin(), texts.end(), "") != texts.end();
  };
  for (const std::span<const Flag> flags :
       {std::span<const Flag>(command.flags), std::span<const Flag>(kCommon)}) {
    const auto found = std::find_if(flags.begin(), flags.end(), is_empty);
    if (found != flags.end()) {
      return std::string(found->name);
    }
  }
  return {};
}

}  // namespace

std::string version_line() {
  std::string names;
  for (const engine::Kernels* kernels : engine::all_kernels()) {
    names += (names.empty() ? "" : ", ") + std::string(kernels->name);
  }
  const Result<const engine::Kernels*> best = engine::find_kernels("");
  return "thinkd " + std::string(build_id()) + " (isa " +
         (best ? std::string((*best)->name) : std::string("none")) + "; this machine runs " +
         names + ")";
}

Parsed parse(int argc, const char* const* argv, std::span<const Command> commands,
             std::span<const Group> groups) {
  Parsed parsed;
  if (const std::string unknown = unknown_command(argc, argv, commands); !unknown.empty()) {
    complain("there is no command '" + unknown + "'; thinkd --help lists them");
    parsed.exit_code = kExitUsage;
    return parsed;
  }
  CLI::App root("thinkd spends test-time compute on hard questions, on your own machine and model.",
                "thinkd");
  root.set_version_flag("--version", version_line());
  root.require_subcommand(1);
  const auto leaves = fill_all(root, commands, groups, parsed.arguments);
  for (CLI::App* app : root.get_subcommands(nullptr)) {
    if (!leaves.contains(app)) {
      app->require_subcommand(1);
    }
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(root.help());
    return parsed;
  } catch (const CLI::CallForAllHelp&) {
    print(root.help("", CLI::AppFormatMode::All));
    return parsed;
  } catch (const CLI::CallForVersion&) {
    print(version_line());
    return parsed;
  } catch (const CLI::ParseError& error) {
    complain(error.what());
    parsed.exit_code = kExitUsage;
    return parsed;
  }
  for (const CLI::App* app = &root; app != nullptr;) {
    const auto chosen = app->get_subcommands();
    app = chosen.empty() ? nullptr : chosen.front();
    const auto found = leaves.find(app);
    if (found != leaves.end()) {
      parsed.command = found->second;
    }
  }
  if (parsed.command != nullptr) {
    if (const std::string empty = empty_flag(*parsed.command, parsed.arguments); !empty.empty()) {
      complain("--" + empty + ": the text is empty");
      parsed.command = nullptr;
      parsed.exit_code = kExitUsage;
      return parsed;
    }
  }
  if (parsed.arguments.has("v")) {
    set_log_level(LogLevel::debug);
  }
  return parsed;
}

}  // namespace thinkd::daemon
