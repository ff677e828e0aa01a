#include "base/log.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd {

namespace {

// What `body` writes to standard error.
template <class Body>
std::string captured(const std::string& path, Body body) {
  const int saved = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  body();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  Result<std::string> text = read_file(path, 1 << 16);
  return text ? *text : std::string();
}

}  // namespace

TEST_CASE("one event is one line, whatever the text") {
  const ScratchFolder scratch;
  const std::string text = captured(scratch.path("err"), [] {
    log_error("bad\nname {} \x1b[31m \xff");
    log_info("not shown by default");
    set_log_level(LogLevel::info);
    log_info("shown");
    set_log_level(LogLevel::warning);
  });
  INFO(text);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK_THAT(text, Contains("error bad\\x0aname {} \\x1b[31m"));
  CHECK_THAT(text, Contains("info shown"));
  CHECK_THAT(text, !Contains("not shown"));
}

}  // namespace thinkd
