#pragma once
// The insides of Runs: who runs, who queues, what is stored. Split over run_admission.cc,
// run_worker.cc, runs.cc (those who ask and wait), run_lookup.cc, run_resume.cc and run_replay.cc
// (what was).

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "search/deadlines.h"
#include "search/run.h"
#include "search/run_record.h"

namespace thinkd::search {

class Runs::Impl {
 public:
  using RunPtr = std::shared_ptr<Run>;
  struct Begun {
    std::string run_id;
    RunPtr run;  // null: it was over before, and the store has its answer
  };

  Impl(engine::Engine& engine, const verifiers::Verifiers& verifiers, const Registry& registry,
       memory::Store* store, const RunsOptions& options);
  ~Impl();

  Result<Begun> begin(Request request, Observer observer);
  Result<Answer> solve(Request request, Observer observer);
  Result<Answer> wait(std::string_view run_id);
  void when_over(std::string_view run_id, std::function<void()> over);
  Status cancel(std::string_view run_id);
  Result<RunInfo> get(std::string_view run_id);
  Result<std::vector<RunInfo>> list(size_t limit);
  Result<std::string> latest_interrupted();
  Status remove(std::string_view run_id);
  Result<std::vector<Json>> events(std::string_view run_id);
  Result<std::string> resume(std::string_view run_id, Observer observer);
  Result<ReplayReport> replay(std::string_view run_id);
  Result<uint64_t> restart_interrupted();
  void drain(double seconds);
  RunsCounters counters();

 private:
  // While a run id is looked up and given to a run, so that two requests with one id meet.
  class IdHold {
   public:
    IdHold(Impl& impl, std::string_view run_id) : impl_(impl), run_id_(run_id) {
      std::unique_lock guard(impl_.lock_);
      impl_.changed_.wait(guard, [&] { return !impl_.held_.contains(run_id_); });
      impl_.held_.insert(run_id_);
    }
    ~IdHold() {
      const std::lock_guard guard(impl_.lock_);
      impl_.held_.erase(run_id_);
      impl_.changed_.notify_all();
    }
    IdHold(const IdHold&) = delete;
    IdHold& operator=(const IdHold&) = delete;

   private:
    Impl& impl_;
    const std::string run_id_;
  };

  Status check(const Request& request, std::vector<sdk::Param>& params,
               const thinkd_strategy*& strategy) const;
  uint32_t page_quota(const Request& request) const;
  Status pages_are_there(const StoredRun& run) const;
  Result<std::optional<Begun>> join_existing(const Request& request, const Observer& observer);
  Status admit(RunPtr run);
  Result<RunPtr> go_on(const memory::RunRecord& record, Observer observer);  // its id is held
  static Result<Answer> answer_of(Run& run);                                 // when it is over
  RunPtr find(std::string_view run_id);
  RunInfo info_of(Run& run) const;
  Result<Outcome> run_replay(VerbHost& host, const thinkd_strategy& strategy);
  void worker();
  void execute(Run& run);
  void conclude(Run& run, Outcome outcome);
  Status save(const Run& run, memory::RunState state, std::string result, std::string error);
  void forget(const RunPtr& run);  // it is over; lock held

  engine::Engine& engine_;
  const verifiers::Verifiers& verifiers_;
  const Registry& registry_;
  memory::Store* const store_;
  const RunsOptions options_;
  const std::string build_;  // what computes here

  std::mutex lock_;
  std::condition_variable changed_;
  std::map<std::string, RunPtr, std::less<>> runs_;  // lock
  std::deque<RunPtr> queue_;                         // lock
  std::deque<RunPtr> over_;                          // lock: finished ones, oldest first
  std::set<std::string> held_;                       // lock: by an IdHold
  uint32_t idle_workers_ = 0;                        // lock
  uint32_t active_ = 0;                              // lock: running now
  std::vector<VerbHost*> replays_;                   // lock: at work on their callers' threads
  bool draining_ = false;                            // lock
  bool ending_ = false;                              // lock
  std::vector<std::thread> workers_;                 // lock
  Deadlines deadlines_;
};

}  // namespace thinkd::search
