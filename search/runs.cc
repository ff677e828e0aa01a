#include "search/runs.h"

#include <sys/random.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/log.h"
#include "memory/store.h"
#include "search/judges.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

constexpr size_t kFinishedKept = 64;  // finished runs that only memory knows

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

uint64_t random_seed() {
  uint64_t seed = 0;
  while (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
  }
  return seed >> 11;  // 53 bits: every JSON reader keeps it
}

}  // namespace

uint32_t default_page_quota(const engine::Engine& engine, const RunsOptions& options) {
  return std::max(1u, engine.pages_total() / std::max(1u, options.page_share));
}

std::string_view to_string(RunState state) {
  switch (state) {
    case RunState::queued:
      return "queued";
    case RunState::running:
      return "running";
    case RunState::done:
      return "done";
    case RunState::failed:
      return "failed";
    case RunState::cancelled:
      return "cancelled";
    case RunState::interrupted:
      return "interrupted";
  }
  return "failed";
}

OrderedJson to_json(const RunInfo& info) {
  OrderedJson out;
  out["run_id"] = info.run_id;
  out["state"] = to_string(info.state);
  out["created_ms"] = info.created_ms;
  out["model_sha256"] = info.model_sha256;
  out["build"] = info.build;
  const OrderedJson request = OrderedJson::parse(info.request, nullptr, false);
  out["request"] = request.is_discarded() ? OrderedJson() : request;
  const OrderedJson result = OrderedJson::parse(info.result, nullptr, false);
  out["result"] = result.is_discarded() ? OrderedJson() : result;
  out["error"] = info.error.empty() ? OrderedJson() : OrderedJson(info.error);
  return out;
}

Runs::Impl::Impl(engine::Engine& engine, const verifiers::Verifiers& verifiers,
                 const Registry& registry, memory::Store* store, const RunsOptions& options)
    : engine_(engine),
      verifiers_(verifiers),
      registry_(registry),
      store_(store),
      options_(options) {}

Runs::Impl::~Impl() { drain(0); }

Status Runs::Impl::check(const Request& request, std::vector<sdk::Param>& params,
                         const thinkd_strategy*& strategy) const {
  THINKD_CHECK(memory::check_run_id(request.run_id));
  if (request.messages.empty()) {
    return invalid("question (or messages) is missing");
  }
  Result<std::vector<sdk::Param>> checked = registry_.check(request.strategy);
  if (!checked) {
    return checked.status();
  }
  params = *std::move(checked);
  strategy = *registry_.find(request.strategy.name);
  THINKD_CHECK(check_judges(verifiers_, request, params));
  if (request.budget.pages && *request.budget.pages > engine_.pages_total()) {
    return over_limit("budget: pages is " + std::to_string(*request.budget.pages) +
                      "; the pool has " + std::to_string(engine_.pages_total()));
  }
  return {};
}

// Resolved once, when the run is admitted: it decides which branches run side by side, and so is
// kept with the run.
uint32_t Runs::Impl::page_quota(const Request& request) const {
  if (request.budget.pages) {
    return static_cast<uint32_t>(*request.budget.pages);
  }
  return default_page_quota(engine_, options_);
}

Result<Runs::Impl::Begun> Runs::Impl::begin(Request request, Observer observer) {
  if (request.run_id.empty()) {
    request.run_id = new_run_id();
  }
  const IdHold hold(*this, request.run_id);
  Result<std::optional<Begun>> known = join_existing(request, observer);
  if (!known) {
    return known.status();
  }
  if (*known) {
    return **std::move(known);
  }
  if (!request.seed) {
    request.seed = random_seed();
  }
  auto run = std::make_shared<Run>();
  THINKD_CHECK(check(request, run->params, run->strategy));
  run->stored = store_ != nullptr && request.trace;
  run->pages = page_quota(request);
  run->request = std::move(request);
  run->created_us = now_us();
  if (observer) {
    run->observers.push_back(std::move(observer));
  }
  THINKD_CHECK(admit(run));
  return Begun{run->request.run_id, run};
}

// A run_id that is known is answered once: the caller joins that run. The id is held.
Result<std::optional<Runs::Impl::Begun>> Runs::Impl::join_existing(const Request& request,
                                                                   const Observer& observer) {
  const std::string& run_id = request.run_id;
  const auto differs = [&](const Request& known) {
    Request asked = request;
    asked.seed = asked.seed ? asked.seed : known.seed;
    return to_json(asked) != to_json(known)
               ? conflict("run_id " + run_id + " was used before for another request")
               : Status();
  };
  if (RunPtr run = find(run_id)) {
    THINKD_CHECK(differs(run->request));
    run->join(observer);
    return std::optional(Begun{run_id, std::move(run)});
  }
  if (store_ == nullptr) {
    return std::optional<Begun>();
  }
  THINKD_CHECK(memory::check_run_id(run_id));
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  if (!record) {
    return record.status().code() == Code::not_found ? Result<std::optional<Begun>>(std::nullopt)
                                                     : record.status();
  }
  const Result<StoredRun> stored = read_request(*record);
  if (!stored) {
    return stored.status();
  }
  THINKD_CHECK(differs(stored->request));
  if (record->state == memory::RunState::running) {
    Result<RunPtr> run = go_on(*record, observer);
    return run ? Result<std::optional<Begun>>(Begun{run_id, *std::move(run)}) : run.status();
  }
  if (observer && !record->result.empty()) {
    const Result<StoredResult> result = read_result(*record);
    if (!result) {
      return result.status();
    }
    for (const std::string& text : result->events) {
      const Result<Event> event = event_from_json(Json::parse(text, nullptr, false));
      if (!event) {
        return event.status().within("run " + run_id);
      }
      observer(*event);
    }
  }
  return std::optional(Begun{run_id, nullptr});
}

Status Runs::Impl::save(const Run& run, memory::RunState state, std::string result,
                        std::string error) {
  if (!run.stored) {
    return {};
  }
  memory::RunRecord record;
  record.run_id = run.request.run_id;
  record.created_us = run.created_us;
  record.state = state;
  record.request = stored_request(run.request, run.pages, engine_);
  record.result = std::move(result);
  record.error = std::move(error);
  return store_->put_run(record);
}

Status Runs::Impl::admit(RunPtr run) {
  run->admitted = std::chrono::steady_clock::now();
  const std::string& run_id = run->request.run_id;
  {
    const std::lock_guard guard(lock_);
    if (draining_) {
      return unavailable("shutting down: no new runs");
    }
    if (queue_.size() >= limits::kQueuedRuns) {
      return over_limit(std::to_string(queue_.size()) + " runs are queued; at most " +
                        std::to_string(limits::kQueuedRuns));
    }
    if (!runs_.emplace(run_id, run).second) {
      return conflict("run_id " + run_id + " is in use");
    }
  }
  if (const Status saved = save(*run, memory::RunState::running, "", ""); !saved.ok()) {
    const std::lock_guard guard(lock_);
    runs_.erase(run_id);
    return saved;
  }
  if (run->request.budget.seconds) {
    const std::chrono::duration<double> seconds(*run->request.budget.seconds);
    deadlines_.add(
        run->admitted + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds),
        [weak = std::weak_ptr<Run>(run)] {
          if (const RunPtr due = weak.lock()) {
            due->stop(StopReason::seconds);
          }
        });
  }
  const std::lock_guard guard(lock_);
  queue_.push_back(std::move(run));
  if (idle_workers_ < queue_.size() && workers_.size() < std::max(1u, options_.strategy_threads)) {
    try {
      workers_.emplace_back([this] { worker(); });
    } catch (const std::system_error& error) {
      if (workers_.empty()) {
        runs_.erase(queue_.back()->request.run_id);
        queue_.pop_back();
        return unavailable(std::string("no thread for the strategy: ") + error.what());
      }
    }
  }
  changed_.notify_all();
  return {};
}

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

Result<Answer> Runs::Impl::answer_of(Run& run) {
  std::unique_lock guard(run.lock);
  run.changed.wait(guard, [&] { return run.over(); });
  return run.answer ? Result<Answer>(*run.answer) : Result<Answer>(run.error);
}

Result<Answer> Runs::Impl::solve(Request request, Observer observer) {
  const Result<Begun> begun = begin(std::move(request), std::move(observer));
  if (!begun) {
    return begun.status();
  }
  return begun->run ? answer_of(*begun->run) : wait(begun->run_id);
}

Result<Answer> Runs::Impl::wait(std::string_view run_id) {
  if (const RunPtr run = find(run_id)) {
    return answer_of(*run);
  }
  if (store_ == nullptr) {
    return not_found("run " + std::string(run_id) + " does not exist");
  }
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  if (!record) {
    return record.status();
  }
  if (record->state == memory::RunState::running) {
    return cancelled("run " + std::string(run_id) + " was interrupted; it can be resumed");
  }
  if (record->state == memory::RunState::failed) {
    return internal_error(record->error);
  }
  Result<StoredResult> result = read_result(*record);
  if (!result) {
    return result.status();
  }
  return std::move(result->answer);
}

void Runs::Impl::when_over(std::string_view run_id, std::function<void()> over) {
  if (const RunPtr run = find(run_id)) {
    const std::lock_guard guard(run->lock);
    if (!run->over()) {
      run->at_end.push_back(std::move(over));
      return;
    }
  }
  over();
}

Status Runs::Impl::cancel(std::string_view run_id) {
  if (const RunPtr run = find(run_id)) {
    run->stop(StopReason::cancelled);
    return {};
  }
  return get(run_id).status();
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

RunsCounters Runs::Impl::counters() {
  const std::lock_guard guard(lock_);
  RunsCounters counters;
  for (const auto& [run_id, run] : runs_) {
    const std::lock_guard run_guard(run->lock);
    counters.runs += run->over() ? 0 : 1;
    counters.branches += run->host ? run->host->live_branches() : 0;
  }
  return counters;
}

Runs::Runs(engine::Engine& engine, const verifiers::Verifiers& verifiers, const Registry& registry,
           memory::Store* store, const RunsOptions& options)
    : impl_(std::make_unique<Impl>(engine, verifiers, registry, store, options)) {}
Runs::~Runs() = default;

Result<std::string> Runs::start(Request request, Observer observer) {
  const Result<Impl::Begun> begun = impl_->begin(std::move(request), std::move(observer));
  return begun ? Result<std::string>(begun->run_id) : Result<std::string>(begun.status());
}
Result<Answer> Runs::wait(std::string_view run_id) { return impl_->wait(run_id); }
Result<Answer> Runs::solve(Request request, Observer observer) {
  return impl_->solve(std::move(request), std::move(observer));
}
void Runs::when_over(std::string_view run_id, std::function<void()> over) {
  impl_->when_over(run_id, std::move(over));
}
Status Runs::cancel(std::string_view run_id) { return impl_->cancel(run_id); }
Result<RunInfo> Runs::get(std::string_view run_id) const { return impl_->get(run_id); }
Result<std::vector<RunInfo>> Runs::list(size_t limit) const { return impl_->list(limit); }
Result<std::string> Runs::latest_interrupted() const { return impl_->latest_interrupted(); }
Status Runs::remove(std::string_view run_id) { return impl_->remove(run_id); }
Result<std::vector<Json>> Runs::events(std::string_view run_id) const {
  return impl_->events(run_id);
}
Result<OrderedJson> Runs::explain(std::string_view run_id) const {
  Result<std::vector<Json>> events = impl_->events(run_id);
  return events ? Result<OrderedJson>(tree_of(*events)) : Result<OrderedJson>(events.status());
}
Result<std::string> Runs::resume(std::string_view run_id, Observer observer) {
  return impl_->resume(run_id, std::move(observer));
}
Result<ReplayReport> Runs::replay(std::string_view run_id) { return impl_->replay(run_id); }
Result<uint64_t> Runs::restart_interrupted() { return impl_->restart_interrupted(); }
void Runs::drain(double seconds) { impl_->drain(seconds); }
RunsCounters Runs::counters() const { return impl_->counters(); }

}  // namespace thinkd::search
