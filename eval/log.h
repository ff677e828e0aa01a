#pragma once
// samples.jsonl: what was found out, one JSON line per problem x strategy x sample, append-only. It
// is the truth of the folder: summaries and reports come from it alone.
//
// A line counts once it is synced; a last line without its end (a crash, a power cut) is cut off
// when the log is opened, and its unit runs again. A bad line before the last one is an error,
// never skipped. One process a log: a second one is refused (owner.pid beside it).
//
// SampleLog is thread-safe: add() returns when its line is on the disk; lines that come while a
// sync runs share the next one.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/owner.h"
#include "base/status.h"
#include "eval/outcome.h"
#include "search/ledger.h"

namespace thinkd::eval {

struct Sample {
  std::string problem_id;
  std::string strategy;  // as typed
  uint64_t sample = 0;
  Outcome outcome = Outcome::error;
  std::string reason;  // why, in words; empty where correct
  std::optional<std::string> answer;
  std::optional<double> confidence;
  std::string text;  // of the chosen candidate, else of the first one
  std::string stopped_by;
  uint64_t candidates = 0;
  search::Ledger ledger;
  uint64_t seed = 0;
  double seconds = 0;  // wall, admission to answer
};

std::string to_line(const Sample& sample);               // with its newline
Result<Sample> sample_from_line(std::string_view line);  // corrupt names the member

// Reads without opening for writing; a torn last line is left out.
Result<std::vector<Sample>> read_samples(const std::string& path);

class SampleLog {
 public:
  // Cuts a torn last line off. conflict: another process holds its folder, by pid.
  static Result<std::unique_ptr<SampleLog>> open(const std::string& path);

  const std::vector<Sample>& found() const { return found_; }  // what was there at opening

  Status add(const Sample& sample);

  // What open() hands over.
  struct Opened {
    Owner owner;
    AppendFile file;
    std::vector<Sample> found;
  };
  explicit SampleLog(Opened opened);

 private:
  const Owner owner_;
  AppendFile file_;
  const std::vector<Sample> found_;
  std::mutex mutex_;
  std::condition_variable synced_;
  uint64_t written_lines_ = 0;  // guarded by mutex_
  uint64_t synced_lines_ = 0;   // idem
  bool syncing_ = false;        // idem: one thread is in fdatasync
  Status failure_;              // idem: the first one; nothing is written after it
};

}  // namespace thinkd::eval
