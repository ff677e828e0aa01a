// The threads that strategies run on, and how a run ends.

#include <algorithm>

#include "base/log.h"
#include "memory/store.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

constexpr size_t kFinishedKept = 64;  // finished runs that only memory knows

}  // namespace

void Runs::Impl::worker() {
  std::unique_lock guard(lock_);
  while (true) {
    ++idle_workers_;
    changed_.wait(guard, [&] { return ending_ || !queue_.empty(); });
    --idle_workers_;
    if (queue_.empty()) {
      return;
    }
    const RunPtr run = std::move(queue_.front());
    queue_.pop_front();
    ++active_;
    guard.unlock();
    execute(*run);
    guard.lock();
    --active_;
    forget(run);
    changed_.notify_all();
  }
}

// What the store can tell of a run is forgotten; of the rest the last few are remembered. An id may
// belong to another run by now, which stays.
void Runs::Impl::forget(const RunPtr& run) {
  const auto erase = [&](const RunPtr& one) {
    const auto found = runs_.find(one->request.run_id);
    if (found != runs_.end() && found->second == one) {
      runs_.erase(found);
    }
  };
  if (run->settled) {
    erase(run);
    return;
  }
  over_.push_back(run);
  while (over_.size() > kFinishedKept) {
    erase(over_.front());
    over_.pop_front();
  }
}

void Runs::Impl::execute(Run& run) {
  std::unique_ptr<JournalSink> sink =
      run.stored ? store_sink(*store_, run.request.run_id) : memory_sink(nullptr);
  Result<std::unique_ptr<VerbHost>> made =
      VerbHost::create(HostSetup{engine_, verifiers_, run.request, run.params, run.pages,
                                 run.admitted, [&run](const Event& event) { run.tell(event); }},
                       Journal(std::move(sink), std::move(run.log), Journal::Mode::record));
  if (!made) {
    conclude(run, {made.status(), {}});
    return;
  }
  const std::shared_ptr<VerbHost> host = *std::move(made);
  {
    const std::lock_guard guard(run.lock);
    run.state = RunState::running;
    run.host = host;
    if (run.early_stop != StopReason::none) {
      host->request_stop(run.early_stop);
    }
  }
  Outcome outcome = host->run(*run.strategy);
  const bool refused =
      outcome.status.code() == Code::invalid || outcome.status.code() == Code::limit;
  run.refused = refused && host->journal().next_index() == 0 && host->journal().logged() == 0;
  conclude(run, std::move(outcome));
}

// The result is on disk before anyone hears of it.
void Runs::Impl::conclude(Run& run, Outcome outcome) {
  if (outcome.status.code() == Code::cancelled) {
    run.settled = run.stored;
    run.finish(RunState::interrupted, std::nullopt, outcome.status);
    return;
  }
  RunState state = RunState::failed;
  Status saved;
  if (outcome.status.ok()) {
    const bool was_cancelled = outcome.answer.stopped_by == "cancelled";
    state = was_cancelled ? RunState::cancelled : RunState::done;
    std::string result;
    if (run.stored) {
      const std::lock_guard guard(run.lock);
      result = stored_result(outcome.answer, run.events);
    }
    saved = save(run, was_cancelled ? memory::RunState::cancelled : memory::RunState::done,
                 std::move(result), "");
  } else if (run.refused && run.stored) {
    saved = store_->remove_run(run.request.run_id);  // it may be a prompt of megabytes
  } else {
    saved = save(run, memory::RunState::failed, "", outcome.status.message());
  }
  if (saved.ok() && run.stored) {
    saved = store_->sync();
  }
  if (!saved.ok()) {
    log_error("run " + run.request.run_id + ": " + saved.message());
    run.finish(RunState::failed, std::nullopt, saved);
    return;
  }
  if (outcome.status.ok()) {
    run.settled = run.stored;
    run.finish(state, std::move(outcome.answer), {});
  } else {
    run.finish(state, std::nullopt, outcome.status);
  }
}

void Runs::Impl::drain(double seconds) {
  std::unique_lock guard(lock_);
  draining_ = true;
  for (VerbHost* replayed : replays_) {
    replayed->request_stop(StopReason::interrupted);
  }
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(std::max(0.0, seconds)));
  changed_.wait_until(guard, until, [&] { return active_ == 0 && queue_.empty(); });
  std::deque<RunPtr> queued = std::move(queue_);
  queue_.clear();
  std::vector<RunPtr> all;
  for (const auto& [run_id, run] : runs_) {
    all.push_back(run);
  }
  ending_ = true;
  changed_.notify_all();
  std::vector<std::thread> workers = std::move(workers_);
  workers_.clear();
  guard.unlock();
  for (const RunPtr& run : queued) {
    run->finish(RunState::interrupted, std::nullopt,
                cancelled("the run was interrupted before it began; it can be resumed"));
  }
  for (const RunPtr& run : all) {
    run->stop(StopReason::interrupted);
  }
  for (std::thread& thread : workers) {
    thread.join();
  }
}

}  // namespace thinkd::search
