#pragma once
// Runs the built program with captured output, on a tiny model in a store of its own.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"
#include "tests/support/tiny_llama.h"

extern char** environ;

namespace thinkd::testing {

// False where it does not come to be so.
inline bool until(const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!so()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    poll(nullptr, 0, 2);
  }
  return true;
}

struct Ran {
  int code = -1;  // exit code; 128 + signal where one ended it
  std::string out;
  std::string err;

  nlohmann::ordered_json json() const {
    INFO("stdout: " << out << " stderr: " << err);
    nlohmann::ordered_json value = nlohmann::ordered_json::parse(out, nullptr, false);
    REQUIRE_FALSE(value.is_discarded());
    return value;
  }
};

class Program {
 public:
  Program() {
    REQUIRE(std::filesystem::create_directories(folder_.path("store/models")));
    REQUIRE(write_tiny_llama(folder_.path("store/models/tiny.gguf"), TinyLlama{}).ok());
  }

  std::string path(const std::string& name) const { return folder_.path(name); }
  std::string store() const { return folder_.path("store"); }

  // Starts it with output to NAME.out and NAME.err; wait() collects it.
  pid_t start(std::vector<std::string> arguments, const std::string& name = "ran") {
    arguments.insert(arguments.begin(), THINKD_PROGRAM);
    arguments.insert(arguments.end(), {"--store", store()});
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, path(name + ".out").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, path(name + ".err").c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t pid = 0;
    REQUIRE(posix_spawn(&pid, THINKD_PROGRAM, &files, nullptr, argv.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&files);
    return pid;
  }

  Ran wait(pid_t pid, const std::string& name = "ran") {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
    }
    Ran ran;
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.out = *read_file(path(name + ".out"), 64 << 20);
    ran.err = *read_file(path(name + ".err"), 64 << 20);
    return ran;
  }

  Ran run(std::vector<std::string> arguments) { return wait(start(std::move(arguments))); }

  // With the tiny model.
  Ran think(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--model", "tiny", "--threads", "1"});
    return run(std::move(arguments));
  }

 private:
  ScratchFolder folder_;
};

inline std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
  }
  return keys;
}

// An answer without what two runs with one seed may differ in.
inline std::string stable_part(nlohmann::ordered_json answer) {
  answer.erase("run_id");
  for (const char* name :
       {"seconds_wall", "seconds_waiting", "seconds_computing", "kv_byte_seconds", "joules",
        "cached_tokens", "prefill_saved_tokens", "rebuilt_tokens"}) {
    answer["ledger"].erase(name);
  }
  return answer.dump();
}

}  // namespace thinkd::testing
