#pragma once
// What a command shows: results on standard output, errors as one line `thinkd: ...` on standard
// error, and, where standard error is a terminal, a progress line for work that takes longer than a
// second.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/status.h"

namespace thinkd::daemon {

// The text and a line end. Bytes that could steer a terminal are escaped where one is there.
void print(std::string_view text);

// The same on standard error, for what is not the result; nothing for an empty text.
void tell(std::string_view text);

// Shows the error and gives exit_code(status).
int fail(const Status& status);
int fail(const Status& status, int code);
void complain(std::string_view message);  // "thinkd: message"

// `code`, or kExitFailed with a word about it where standard output could not be written.
int finish_output(int code);

std::string shown_number(double value, int decimals);  // "12.3"
std::string shown_bytes(uint64_t bytes);               // "98.4 MB"
std::string shown_time(int64_t unix_ms);               // "2026-01-31 12:00:00", UTC

// Draws what `line` gives, again and again, from a thread of its own; the line is wiped at the end.
// Does nothing where standard error is no terminal.
class ProgressLine {
 public:
  // `line` is given the seconds since the start.
  explicit ProgressLine(std::function<std::string(double)> line);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  void run();

  const std::function<std::string(double)> line_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool ending_ = false;  // lock_
  std::thread thread_;
};

}  // namespace thinkd::daemon
