#pragma once
// All runs of a process: admits requests, gives each a strategy thread, remembers what became of
// them. With a store, a run's request, journal and result survive a crash, and an interrupted run
// goes on where it stopped; without one (eval, ask --no-trace) runs live in memory only.
//
// Owner: whoever made it; engine, verifiers, registry and store outlive it. Threads: every method
// may be called from any thread; observers are called on the run's thread. Not promised: that a run
// starts before others that were queued first have started.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/status.h"
#include "engine/scheduler/engine.h"
#include "search/answer.h"
#include "search/event.h"
#include "search/registry.h"
#include "search/request.h"
#include "verifiers/registry.h"

namespace thinkd::memory {
class Store;
}

namespace thinkd::search {

struct RunsOptions {
  uint32_t strategy_threads =
      limits::kStrategyThreads;  // strategies running at once; the rest queue
  uint32_t page_share = 4;  // a run's page quota is 1/page_share of the pool, where it names none
};

// Of a run whose budget names no pages.
uint32_t default_page_quota(const engine::Engine& engine, const RunsOptions& options);

enum class RunState : uint8_t { queued, running, done, failed, cancelled, interrupted };
std::string_view to_string(RunState state);

struct RunInfo {
  std::string run_id;
  RunState state = RunState::queued;
  std::string request;     // JSON
  std::string result;      // JSON of the Answer; empty until there is one
  std::string error;       // of a failed run
  int64_t created_ms = 0;  // Unix time
  std::string model_sha256;
  std::string build;  // engine and ISA that ran it
};
OrderedJson to_json(const RunInfo& info);  // request and result as JSON values

struct ReplayReport {
  bool equal = true;
  uint64_t entries = 0;  // compared
  uint64_t index = 0;    // of the first difference
  std::string verb;
  std::string branch;
  std::string logged;  // both values, shortened
  std::string generated;
};

struct RunsCounters {
  uint64_t branches = 0;  // live, of all runs
  uint64_t runs = 0;      // running or queued
};

class Runs {
 public:
  Runs(engine::Engine& engine, const verifiers::Verifiers& verifiers, const Registry& registry,
       memory::Store* store, const RunsOptions& options);
  ~Runs();  // drain(0)
  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;

  // Admits a request and gives its run id. A run_id that exists already joins that run, also where
  // both come at one time (its observer hears all events from the first on); conflict where the
  // requests differ. Errors name the member.
  Result<std::string> start(Request request, Observer observer = nullptr);

  // Blocks until the run is over. cancelled where it was interrupted by drain (its state is saved);
  // otherwise the failed run's own error.
  Result<Answer> wait(std::string_view run_id);
  Result<Answer> solve(Request request, Observer observer = nullptr);
  // For callers that must not block: `over` is called once when the run is over (then wait() does
  // not block), at once where it is over already or unknown; on the run's thread, after its last
  // event. It must be quick; it may ask this object what became of the run.
  void when_over(std::string_view run_id, std::function<void()> over);

  // The run ends with the best so far, within an engine step. not_found; ok where it is over
  // already.
  Status cancel(std::string_view run_id);

  Result<RunInfo> get(std::string_view run_id) const;
  Result<std::vector<RunInfo>> list(
      size_t limit = limits::kListedRuns) const;   // newest first, short
  Result<std::string> latest_interrupted() const;  // its run id; not_found where there is none
  Status remove(std::string_view run_id);          // conflict while it runs
  Result<std::vector<Json>> events(std::string_view run_id) const;
  Result<OrderedJson> explain(std::string_view run_id) const;

  // An interrupted run goes on; "" names the latest one. Gives its run id. not_found where there is
  // none, conflict where model or build differ from the interrupted run's, limit where its page
  // quota is more than the pool has.
  Result<std::string> resume(std::string_view run_id, Observer observer = nullptr);

  // The same refusals. Generates everything again and compares it with the run's journal, entry by
  // entry. Blocks; unavailable where drain() ended it.
  Result<ReplayReport> replay(std::string_view run_id);

  // After a restart: what a crash left running is interrupted; detached runs go on. Gives how many.
  Result<uint64_t> restart_interrupted();

  // Admits nothing more, ends replays, lets runs finish for so long, then interrupts the rest
  // (state saved).
  void drain(double seconds);

  RunsCounters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thinkd::search
