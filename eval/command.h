#pragma once
// `thinkd eval` and `thinkd eval report`, but for the command line itself: reads the data, opens or
// resumes the folder, runs what is missing, writes summary.json, summary.csv and report.html.
// The folder is the whole state: running the same command again finishes what is missing and
// repeats nothing. One process works in a folder at a time.
//
// Threads: run() blocks the calling thread and starts `concurrency` more. Errors: invalid (data,
// options), conflict (the folder belongs to another manifest: says what differs), limit (another
// process holds the folder, by pid), corrupt (the log has samples that are not of the manifest),
// cancelled (the stop token; what finished is logged), io.

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "eval/manifest.h"
#include "eval/runner.h"
#include "eval/summary.h"
#include "search/request.h"

namespace thinkd::search {
class Runs;
}

namespace thinkd::eval {

struct EvalOptions {
  std::string data;                     // --data FILE
  std::string out;                      // --out DIR, made where it is missing
  std::vector<std::string> strategies;  // --strategy, as typed, in order
  std::string task;                     // --task; "" guesses from the file
  std::optional<uint64_t> limit;        // --limit N: the first N rows
  std::string range;                    // --range A-B: 1-based rows, Rank in 24.csv; "" for all
  uint64_t samples = 1;                 // --samples K: each problem so often
  search::Budget budget;                // --budget, of each run
  std::string verifier;                 // --verifier: chooses among candidates, and is billed
  std::string system;                   // --system: a message before the question
  search::SamplingOverrides sampling;   // --temperature ...
  std::optional<uint64_t> seed;         // absent: the folder's own, else drawn at random
  uint32_t concurrency = 4;             // runs at once; results do not depend on it
};

// What --dry-run prints: what run() would do. Nothing is written.
struct Plan {
  std::string task;           // as named or guessed
  std::string manifest_hash;  // hex
  uint64_t seed = 0;          // the run's
  uint64_t problems = 0;
  uint64_t units = 0;    // problems x strategies x samples
  uint64_t missing = 0;  // of these: not in the log yet
};

Result<Plan> plan(const EvalOptions& options, const ModelIdentity& model);

// `progress` is called from worker threads, one call at a time; it may be empty.
Result<Summary> run(const EvalOptions& options, search::Runs& runs, const ModelIdentity& model,
                    const ProgressCallback& progress, const std::stop_token& stop);

// Writes summary.json, summary.csv and report.html of each folder again, from its log alone; with
// several folders the first one's report.html shows the rows of all. Gives their summaries in
// order.
Result<std::vector<Summary>> report(std::span<const std::string> folders);

}  // namespace thinkd::eval
