#include "daemon/models/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

extern char** environ;

namespace thinkd::daemon {
namespace {

constexpr size_t kOutputBytes = 64 << 10;
constexpr int kAskMilliseconds = 200;

std::string error_text(int error) { return std::generic_category().message(error); }

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// The child starts with the signals as a program expects them, whatever this process blocks and
// ignores for itself.
class PlainSignals {
 public:
  PlainSignals() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t set;
    sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes_, &set);
    sigaddset(&set, SIGPIPE);  // the only one that daemon/signals.cc ignores
    ::posix_spawnattr_setsigdefault(&attributes_, &set);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~PlainSignals() { ::posix_spawnattr_destroy(&attributes_); }
  PlainSignals(const PlainSignals&) = delete;
  PlainSignals& operator=(const PlainSignals&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

std::vector<std::string> environment_of(const Program& program) {
  std::vector<std::string> variables;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string variable = *at;
    bool replaced = false;
    for (const auto& [name, value] : program.environment) {
      replaced = replaced || variable.starts_with(name + "=");
    }
    if (!replaced) {
      variables.push_back(variable);
    }
  }
  for (const auto& [name, value] : program.environment) {
    variables.push_back(name + "=" + value);
  }
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) {
    out.push_back(text.data());
  }
  out.push_back(nullptr);
  return out;
}

Result<pid_t> spawn(const Program& program, int output) {
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(actions.get(), output, 1);
  ::posix_spawn_file_actions_adddup2(actions.get(), output, 2);
  std::vector<std::string> arguments = program.arguments;
  std::vector<std::string> environment = environment_of(program);
  const PlainSignals signals;
  pid_t child = -1;
  const int error = ::posix_spawnp(&child, arguments[0].c_str(), actions.get(), signals.get(),
                                   pointers(arguments).data(), pointers(environment).data());
  if (error == ENOENT) {
    return not_found("there is no program '" + program.arguments[0] + "'");
  }
  if (error != 0) {
    return io_error("cannot run '" + program.arguments[0] + "': " + error_text(error));
  }
  return child;
}

int wait_for(pid_t child) {
  int state = 0;
  while (::waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) {
      return -1;
    }
  }
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// Until the program closes its output. False: the caller wants no more.
bool collect(int input, const std::function<bool()>& keep_going, std::string& output) {
  std::array<char, 4096> piece;
  while (true) {
    if (keep_going && !keep_going()) {
      return false;
    }
    struct pollfd watched{.fd = input, .events = POLLIN, .revents = 0};
    if (::poll(&watched, 1, kAskMilliseconds) <= 0) {
      continue;
    }
    const ssize_t size = ::read(input, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return true;
    }
    output.append(piece.data(), static_cast<size_t>(size));
    if (output.size() > 2 * kOutputBytes) {
      output.erase(0, output.size() - kOutputBytes);
    }
  }
}

}  // namespace

Result<ProgramEnd> run_program(const Program& program) {
  std::array<int, 2> pipe_ends;
  if (::pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    return io_error("cannot make a pipe: " + error_text(errno));
  }
  const Result<pid_t> child = spawn(program, pipe_ends[1]);
  ::close(pipe_ends[1]);
  if (!child.ok()) {
    ::close(pipe_ends[0]);
    return child.status();
  }
  ProgramEnd end;
  const bool finished = collect(pipe_ends[0], program.keep_going, end.output);
  if (!finished) {
    ::kill(*child, SIGTERM);
  }
  ::close(pipe_ends[0]);
  end.exit_code = wait_for(*child);
  if (!finished) {
    return cancelled("'" + program.arguments[0] + "' was ended");
  }
  if (end.output.size() > kOutputBytes) {
    end.output.erase(0, end.output.size() - kOutputBytes);
  }
  return end;
}

}  // namespace thinkd::daemon
