#include "daemon/cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "daemon/exit_code.h"

namespace thinkd::daemon {
namespace {

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

// Line ends and tabs stay, other control bytes are shown.
std::string safe_for_terminal(std::string_view text) {
  std::string out;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t at = std::min(text.find_first_of("\n\t", from), text.size());
    out += escape_controls(text.substr(from, at - from));
    if (at < text.size()) {
      out += text[at];
    }
    from = at + 1;
  }
  return out;
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

// At most so many bytes, and no character cut in half.
std::string cut_to(std::string text, size_t bytes) {
  if (text.size() > bytes) {
    text.resize(bytes);
    while (!text.empty() && !valid_utf8(text)) {
      text.pop_back();
    }
  }
  return text;
}

}  // namespace

void print(std::string_view text) {
  const std::string line =
      (is_terminal(STDOUT_FILENO) ? safe_for_terminal(text) : std::string(text)) + "\n";
  (void)std::fwrite(line.data(), 1, line.size(), stdout);  // finish_output() looks for errors
}

void tell(std::string_view text) {
  if (text.empty()) {
    return;
  }
  const std::string line =
      (is_terminal(STDERR_FILENO) ? safe_for_terminal(text) : std::string(text)) + "\n";
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

void complain(std::string_view message) {
  const std::string line = "thinkd: " + escape_controls(repair_utf8(message)) + "\n";
  (void)std::fflush(stdout);
  (void)std::fwrite(line.data(), 1, line.size(), stderr);
}

int fail(const Status& status, int code) {
  complain(status.message());
  return code;
}

int fail(const Status& status) { return fail(status, exit_code(status)); }

int finish_output(int code) {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    complain("standard output cannot be written");
    return code == kExitDone ? kExitFailed : code;
  }
  return code;
}

std::string shown_number(double value, int decimals) {
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return std::string(buffer.data(), length > 0 ? static_cast<size_t>(length) : 0);
}

std::string shown_bytes(uint64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return shown_number(value, unit == 0 ? 0 : 1) + " " + std::string(kUnits[unit]);
}

std::string shown_time(int64_t unix_ms) {
  const time_t seconds = static_cast<time_t>(unix_ms / 1000);
  tm parts{};
  std::array<char, 32> buffer{};
  if (gmtime_r(&seconds, &parts) == nullptr) {
    return "?";
  }
  return std::string(buffer.data(),
                     std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M:%S", &parts));
}

ProgressLine::ProgressLine(std::function<std::string(double)> line) : line_(std::move(line)) {
  if (is_terminal(STDERR_FILENO)) {
    thread_ = std::thread([this] { run(); });
  }
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard guard(lock_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProgressLine::run() {
  using Clock = std::chrono::steady_clock;
  constexpr std::string_view kWipe = "\r\x1b[K";
  const Clock::time_point start = Clock::now();
  bool drawn = false;
  std::unique_lock guard(lock_);
  auto pause = std::chrono::milliseconds(1000);
  while (!changed_.wait_for(guard, pause, [this] { return ending_; })) {
    guard.unlock();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string text =
        std::string(kWipe) +
        cut_to(escape_controls(repair_utf8(line_(seconds))), terminal_columns() - 1);
    (void)std::fwrite(text.data(), 1, text.size(), stderr);
    (void)std::fflush(stderr);
    drawn = true;
    pause = std::chrono::milliseconds(250);
    guard.lock();
  }
  if (drawn) {
    (void)std::fwrite(kWipe.data(), 1, kWipe.size(), stderr);
    (void)std::fflush(stderr);
  }
}

}  // namespace thinkd::daemon
