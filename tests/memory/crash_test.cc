#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "memory/store.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::memory {

namespace {

// The writer program on a store, its standard output at our end of a pipe.
class Writer {
 public:
  explicit Writer(const std::string& dir) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execl(STORE_WRITER, STORE_WRITER, dir.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~Writer() {
    if (pid_ > 0) {
      end(SIGKILL);
    }
    ::fclose(output_);
  }

  pid_t pid() const { return pid_; }

  std::string line() {
    char buffer[512];
    if (std::fgets(buffer, sizeof(buffer), output_) == nullptr) {
      return "";
    }
    return std::string(trim(buffer));
  }

  // The exit status; -1 where a signal ended it.
  int end(int signal) {
    if (signal != 0) {
      ::kill(pid_, signal);
    }
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  FILE* output_ = nullptr;
};

std::string expected_entry(uint32_t i) {
  std::string entry;
  for (uint32_t copy = 0; copy <= i % 50; ++copy) {
    entry += std::to_string(i) + ";";
  }
  return entry;
}

}  // namespace

TEST_CASE("every acknowledged entry survives kill -9") {
  for (const int lines : {1, 2, 7, 100, 3000}) {
    const ScratchFolder scratch;
    std::optional<uint64_t> acknowledged;
    {
      Writer writer(scratch.path("store"));
      for (int i = 0; i < lines; ++i) {
        acknowledged = parse_uint(writer.line());
        REQUIRE(acknowledged);
      }
      CHECK(writer.end(SIGKILL) == -1);
      // What it printed before it died counts too.
      for (std::optional<uint64_t> more = parse_uint(writer.line()); more;
           more = parse_uint(writer.line())) {
        acknowledged = more;
      }
    }
    Result<std::unique_ptr<Store>> store = Store::open(scratch.path("store"));
    REQUIRE(store.ok());
    const Result<std::vector<std::string>> entries = (*store)->read_journal("r");
    REQUIRE(entries.ok());
    CHECK(entries->size() > *acknowledged);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < entries->size(); ++i) {
      wrong += (*entries)[i] != expected_entry(i);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a store held by another process is refused with its pid, either way round") {
  const ScratchFolder scratch;
  {
    Writer writer(scratch.path("store"));
    REQUIRE(writer.line() == "0");
    const Status status = Store::open(scratch.path("store")).status();
    CHECK(status.code() == Code::conflict);
    CHECK_THAT(status.message(), Contains("process " + std::to_string(writer.pid())));
  }
  const Result<std::unique_ptr<Store>> store = Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  Writer second(scratch.path("store"));
  CHECK_THAT(second.line(), Contains("process " + std::to_string(::getpid())));
  CHECK(second.end(0) == 3);
}

}  // namespace thinkd::memory
