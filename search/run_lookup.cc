// Runs of the past: what the store knows, going on with an interrupted one, generating one again.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "memory/store.h"
#include "search/run_listing.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

Status unknown_run(std::string_view run_id) {
  return not_found("run " + std::string(run_id) + " does not exist");
}

// What two answers to one request must share, whatever was cached.
std::string comparable(const Answer& answer) {
  OrderedJson out = to_json(answer);
  return to_text(OrderedJson{{"answer", out["answer"]},
                             {"stopped_by", out["stopped_by"]},
                             {"candidates", out["candidates"]}});
}

}  // namespace

Runs::Impl::RunPtr Runs::Impl::find(std::string_view run_id) {
  const std::lock_guard guard(lock_);
  const auto found = runs_.find(run_id);
  return found == runs_.end() ? nullptr : found->second;
}

RunInfo Runs::Impl::info_of(Run& run) const {
  const std::lock_guard guard(run.lock);
  RunInfo info;
  info.run_id = run.request.run_id;
  info.state = run.state;
  info.request = to_text(to_json(run.request));
  info.result = run.answer ? to_text(to_json(*run.answer)) : "";
  info.error = run.state == RunState::failed ? run.error.message() : "";
  info.created_ms = run.created_us / 1000;
  info.model_sha256 = engine_.model().info.sha256;
  info.build = build_of(engine_);
  return info;
}

Result<RunInfo> Runs::Impl::get(std::string_view run_id) {
  if (const RunPtr run = find(run_id)) {
    return info_of(*run);
  }
  if (store_ == nullptr) {
    return unknown_run(run_id);
  }
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  return record ? Result<RunInfo>(recorded_run(*record)) : record.status();
}

// Only what is shown is parsed, and only the short form of it is held.
Result<std::vector<RunInfo>> Runs::Impl::list(size_t limit) {
  struct Listed {
    int64_t created_us;
    std::string run_id;
    RunPtr run;  // null: stored
    RunInfo info;
  };
  std::vector<Listed> all;
  std::set<std::string, std::less<>> live;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [run_id, run] : runs_) {
      all.push_back({run->created_us, run->request.run_id, run, {}});
      live.insert(run->request.run_id);
    }
  }
  if (store_ != nullptr) {
    const size_t most = std::min<size_t>(limit, limits::kListedRuns) + all.size();
    THINKD_CHECK(store_->visit_runs(most, [&](const memory::RunRecord& record) {
      if (!live.contains(record.run_id)) {
        all.push_back({record.created_us, record.run_id, nullptr, listed(recorded_run(record))});
      }
    }));
  }
  std::sort(all.begin(), all.end(), [](const Listed& a, const Listed& b) {
    return std::tie(b.created_us, a.run_id) < std::tie(a.created_us, b.run_id);
  });
  all.resize(std::min(all.size(), limit));
  std::vector<RunInfo> shown;
  for (Listed& one : all) {
    shown.push_back(one.run ? listed(info_of(*one.run)) : std::move(one.info));
  }
  return shown;
}

Status Runs::Impl::remove(std::string_view run_id) {
  const IdHold hold(*this, run_id);
  bool known = false;
  {
    const std::lock_guard guard(lock_);
    const auto found = runs_.find(run_id);
    if (found != runs_.end()) {
      const RunPtr run = found->second;
      {
        const std::lock_guard run_guard(run->lock);
        if (!run->over()) {
          return conflict("run " + std::string(run_id) + " is " +
                          std::string(to_string(run->state)) + "; cancel it first");
        }
      }
      known = true;
      std::erase(over_, run);
      runs_.erase(found);
    }
  }
  if (store_ == nullptr) {
    return known ? Status() : unknown_run(run_id);
  }
  const Status removed = store_->remove_run(run_id);
  return known && removed.code() == Code::not_found ? Status() : removed;
}

Result<std::vector<Json>> Runs::Impl::events(std::string_view run_id) {
  std::vector<Json> all;
  if (const RunPtr run = find(run_id)) {
    const std::lock_guard guard(run->lock);
    for (const Event& event : run->events) {
      all.push_back(Json::parse(to_text(to_json(event)), nullptr, false));
    }
    return all;
  }
  if (store_ == nullptr) {
    return unknown_run(run_id);
  }
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  if (!record) {
    return record.status();
  }
  if (record->result.empty()) {
    return all;  // interrupted or failed: its tree is told again when it goes on
  }
  Result<StoredResult> result = read_result(*record);
  if (!result) {
    return result.status();
  }
  for (const std::string& event : result->events) {
    all.push_back(Json::parse(event, nullptr, false));
  }
  return all;
}

// More pages than the pool has would be fewer branches side by side, and another run.
Status Runs::Impl::pages_are_there(const StoredRun& run) const {
  if (run.pages > engine_.pages_total()) {
    return over_limit("run " + run.request.run_id + " has a quota of " + std::to_string(run.pages) +
                      " pages; the pool has " + std::to_string(engine_.pages_total()));
  }
  return {};
}

Result<Runs::Impl::RunPtr> Runs::Impl::go_on(const memory::RunRecord& record, Observer observer) {
  Result<StoredRun> stored = read_request(record);
  if (!stored) {
    return stored.status();
  }
  THINKD_CHECK(same_machine(*stored, engine_));
  THINKD_CHECK(pages_are_there(*stored));
  auto run = std::make_shared<Run>();
  THINKD_CHECK(check(stored->request, run->params, run->strategy));
  Result<std::vector<Entry>> log = read_log(*store_, record.run_id);
  if (!log) {
    return log.status();
  }
  run->log = *std::move(log);
  run->request = std::move(stored->request);
  run->pages = stored->pages;
  run->created_us = record.created_us;
  run->stored = true;
  if (observer) {
    run->observers.push_back(std::move(observer));
  }
  {
    // An interrupted run that this process still remembers makes room for its continuation.
    const std::lock_guard guard(lock_);
    const auto found = runs_.find(record.run_id);
    if (found != runs_.end()) {
      const RunPtr old = found->second;
      {
        const std::lock_guard run_guard(old->lock);
        if (!old->over()) {
          return conflict("run " + record.run_id + " is " + std::string(to_string(old->state)));
        }
      }
      std::erase(over_, old);
      runs_.erase(found);
    }
  }
  THINKD_CHECK(admit(run));
  return run;
}

Result<std::string> Runs::Impl::resume(std::string_view run_id, Observer observer) {
  if (store_ == nullptr) {
    return unavailable("resume: there is no store");
  }
  std::string id(run_id);
  if (id.empty()) {
    Result<std::string> latest = latest_interrupted();
    if (!latest) {
      return latest.status();
    }
    id = *std::move(latest);
  }
  const IdHold hold(*this, id);
  const Result<memory::RunRecord> record = store_->get_run(id);
  if (!record) {
    return record.status();
  }
  if (record->state != memory::RunState::running) {
    return conflict("run " + id + " is not interrupted: it is " +
                    std::string(memory::run_state_name(record->state)));
  }
  const Result<RunPtr> run = go_on(*record, std::move(observer));
  return run ? Result<std::string>(id) : Result<std::string>(run.status());
}

Result<std::string> Runs::Impl::latest_interrupted() {
  if (store_ == nullptr) {
    return not_found("there is no store, so no run of it is interrupted");
  }
  std::string latest;
  THINKD_CHECK(store_->visit_runs(limits::kListedRuns, [&](const memory::RunRecord& record) {
    if (!latest.empty() || record.state != memory::RunState::running) {
      return;
    }
    const RunPtr live = find(record.run_id);
    if (!live || info_of(*live).state == RunState::interrupted) {
      latest = record.run_id;
    }
  }));
  return latest.empty() ? not_found("no run of this store is interrupted")
                        : Result<std::string>(latest);
}

Result<uint64_t> Runs::Impl::restart_interrupted() {
  if (store_ == nullptr) {
    return uint64_t{0};
  }
  std::vector<std::string> left;
  THINKD_CHECK(store_->visit_runs(limits::kListedRuns, [&](const memory::RunRecord& record) {
    if (record.state == memory::RunState::running) {
      left.push_back(record.run_id);
    }
  }));
  uint64_t started = 0;
  // Oldest first, in the order in which they were asked for.
  for (size_t i = left.size(); i > 0; --i) {
    const IdHold hold(*this, left[i - 1]);
    const Result<memory::RunRecord> record = store_->get_run(left[i - 1]);
    if (!record) {
      continue;
    }
    const Result<StoredRun> stored = read_request(*record);
    if (!stored || !stored->request.detach || find(record->run_id)) {
      continue;
    }
    started += go_on(*record, nullptr).ok() ? 1 : 0;
  }
  return started;
}

// A replay keeps nothing, so it is given up as soon as drain() begins.
Result<Outcome> Runs::Impl::run_replay(VerbHost& host, const thinkd_strategy& strategy) {
  const Status given_up = unavailable("shutting down: the replay was given up");
  {
    const std::lock_guard guard(lock_);
    if (draining_) {
      return given_up;
    }
    replays_.push_back(&host);
  }
  Outcome outcome = host.run(strategy);
  {
    const std::lock_guard guard(lock_);
    std::erase(replays_, &host);
  }
  return outcome.status.code() == Code::cancelled ? Result<Outcome>(given_up) : std::move(outcome);
}

Result<ReplayReport> Runs::Impl::replay(std::string_view run_id) {
  if (store_ == nullptr) {
    return unavailable("replay: there is no store");
  }
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  if (!record) {
    return record.status();
  }
  if (record->state == memory::RunState::running) {
    return conflict("run '" + std::string(run_id) +
                    "' is still at work or was interrupted: only a whole trace can be replayed");
  }
  Result<StoredRun> stored = read_request(*record);
  if (!stored) {
    return stored.status();
  }
  THINKD_CHECK(same_machine(*stored, engine_));
  THINKD_CHECK(pages_are_there(*stored));
  std::vector<sdk::Param> params;
  const thinkd_strategy* strategy = nullptr;
  THINKD_CHECK(check(stored->request, params, strategy));
  Result<std::vector<Entry>> log = read_log(*store_, run_id);
  if (!log) {
    return log.status();
  }
  Result<std::unique_ptr<VerbHost>> host =
      VerbHost::create(HostSetup{engine_, verifiers_, stored->request, std::move(params),
                                 stored->pages, std::chrono::steady_clock::now(), nullptr},
                       Journal(memory_sink(nullptr), *std::move(log), Journal::Mode::replay));
  if (!host) {
    return host.status();
  }
  const Result<Outcome> ended = run_replay(**host, *strategy);
  if (!ended) {
    return ended.status();
  }
  const Outcome& outcome = *ended;
  const Journal& journal = (*host)->journal();
  ReplayReport report;
  report.entries = std::min(journal.next_index(), journal.logged());
  report.index = report.entries;
  if (const auto& difference = journal.difference()) {
    report = {false,
              report.entries,
              difference->index,
              difference->verb,
              difference->branch,
              difference->logged,
              difference->generated};
    return report;
  }
  if (!outcome.status.ok() && record->state != memory::RunState::failed) {
    return outcome.status;
  }
  const bool finished = record->state != memory::RunState::running;
  if (journal.next_index() < journal.logged() ||
      (finished && journal.next_index() > journal.logged())) {
    report.equal = false;
    report.verb = "end of run";
    report.logged = std::to_string(journal.logged()) + " entries";
    report.generated = std::to_string(journal.next_index()) + " entries";
    return report;
  }
  if (finished && !record->result.empty()) {
    const Result<StoredResult> result = read_result(*record);
    if (!result) {
      return result.status();
    }
    if (comparable(result->answer) != comparable(outcome.answer)) {
      report.equal = false;
      report.verb = "answer";
      report.logged = comparable(result->answer);
      report.generated = comparable(outcome.answer);
    }
  }
  return report;
}

}  // namespace thinkd::search
