// How a request becomes a run: joined to the one that has its id, else checked, stored and queued.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/entropy.h"
#include "memory/store.h"
#include "search/judges.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

uint32_t default_page_quota(const engine::Engine& engine, const RunsOptions& options) {
  return std::max(1u, engine.pages_total() / std::max(1u, options.page_share));
}

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
    request.seed = draw_seed();
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
  record.request = stored_request(run.request, run.pages, engine_.model().info.sha256, build_);
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

}  // namespace thinkd::search
