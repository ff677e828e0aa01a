#pragma once
// The insides of Runs: who runs, who queues, what is stored. Split over runs.cc (lifecycle) and
// run_lookup.cc (what was).

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "search/deadlines.h"
#include "search/run.h"
#include "search/run_record.h"

namespace thinkd::search {

class Runs::Impl {
 public:
  Impl(engine::Engine& engine, const verifiers::Verifiers& verifiers, const Registry& registry,
       memory::Store* store, const RunsOptions& options);
  ~Impl();

  Result<std::string> start(Request request, Observer observer);
  Result<Answer> wait(std::string_view run_id);
  void when_over(std::string_view run_id, std::function<void()> over);
  Status cancel(std::string_view run_id);
  Result<RunInfo> get(std::string_view run_id);
  Result<std::vector<RunInfo>> list();
  Status remove(std::string_view run_id);
  Result<std::vector<Json>> events(std::string_view run_id);
  Result<std::string> resume(std::string_view run_id, Observer observer);
  Result<ReplayReport> replay(std::string_view run_id);
  Result<uint64_t> restart_interrupted();
  void drain(double seconds);
  RunsCounters counters();

 private:
  using RunPtr = std::shared_ptr<Run>;

  Status check(const Request& request, std::vector<sdk::Param>& params,
               const thinkd_strategy*& strategy) const;
  uint32_t page_quota(const Request& request) const;
  Result<std::string> join_existing(Request& request, Observer& observer, bool& joined);
  Status admit(RunPtr run);
  Result<std::string> go_on(const memory::RunRecord& record, Observer observer);
  RunPtr find(std::string_view run_id);
  RunInfo info_of(Run& run) const;
  RunInfo info_of(const memory::RunRecord& record) const;
  void worker();
  void execute(Run& run);
  void conclude(Run& run, Outcome outcome);
  Status save(const Run& run, memory::RunState state, std::string result, std::string error);
  void forget_old();  // lock held

  engine::Engine& engine_;
  const verifiers::Verifiers& verifiers_;
  const Registry& registry_;
  memory::Store* const store_;
  const RunsOptions options_;

  std::mutex lock_;
  std::condition_variable changed_;
  std::map<std::string, RunPtr, std::less<>> runs_;  // lock
  std::deque<RunPtr> queue_;                         // lock
  std::deque<std::string> over_;                     // lock: finished ones, oldest first
  uint32_t idle_workers_ = 0;                        // lock
  uint32_t active_ = 0;                              // lock: running now
  bool draining_ = false;                            // lock
  bool ending_ = false;                              // lock
  std::vector<std::thread> workers_;                 // lock
  Deadlines deadlines_;
};

}  // namespace thinkd::search
