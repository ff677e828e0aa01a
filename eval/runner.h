#pragma once
// Runs the units that a log lacks, several at once on one engine, and logs each as it ends. A
// unit's request holds the job's seed, the problem's id and the sample's number, and nothing of its
// neighbours, so results do not depend on order or concurrency.
//
// Threads: run_units blocks and starts `concurrency` workers, which it waits for. After a stop the
// running units are cancelled and not logged.

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/status.h"
#include "eval/log.h"
#include "eval/tasks.h"
#include "search/answer.h"
#include "search/request.h"

namespace thinkd::search {
class Runs;
}

namespace thinkd::eval {

struct Progress {
  uint64_t done = 0;  // with those of earlier runs
  uint64_t total = 0;
  uint64_t correct = 0;         // of done
  uint64_t gradable = 0;        // of done: all but gold_invalid
  double units_per_second = 0;  // of this run
  double eta_seconds = 0;       // 0 where unknown
};
using ProgressCallback = std::function<void(const Progress&)>;

struct Unit {
  size_t problem = 0;  // index
  std::string strategy;
  uint64_t sample = 0;
};

// All units in the order in which they run: by sample, then problem, then strategy, so that an
// interrupted evaluation is balanced. Those in `found` are left out.
std::vector<Unit> missing_units(const std::vector<Problem>& problems,
                                const std::vector<std::string>& strategies, uint64_t samples,
                                const std::vector<Sample>& found);

// `request` is what all units share: budget, verifier, sampling, seed.
search::Request request_of(const search::Request& shared, const Problem& problem,
                           const search::StrategySpec& strategy, uint64_t sample,
                           std::string_view system);

// How a finished run counts. `cut`: the chosen candidate's text ended at a limit on tokens (where
// none was chosen: every candidate's did). A correct answer stays correct, however its text ended.
struct Verdict {
  Outcome outcome = Outcome::error;
  std::string reason;
};
Verdict judge(const Problem& problem, const search::Answer& answer, bool cut);

struct RunnerOptions {
  search::Request shared;
  std::string system;
  uint32_t concurrency = 4;
};

Status run_units(const std::vector<Problem>& problems, const std::vector<Unit>& units,
                 const RunnerOptions& options, search::Runs& runs, SampleLog& log,
                 Progress progress, const ProgressCallback& callback, const std::stop_token& stop);

}  // namespace thinkd::eval
