// Runs of the past: what the store knows, going on with an interrupted one, generating one again.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "memory/store.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

constexpr size_t kListedRuns = 100'000;

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

RunInfo Runs::Impl::info_of(const memory::RunRecord& record) const {
  RunInfo info;
  info.run_id = record.run_id;
  info.created_ms = record.created_us / 1000;
  info.error = record.error;
  switch (record.state) {
    case memory::RunState::running:
      info.state = RunState::interrupted;
      break;
    case memory::RunState::done:
      info.state = RunState::done;
      break;
    case memory::RunState::failed:
      info.state = RunState::failed;
      break;
    case memory::RunState::cancelled:
      info.state = RunState::cancelled;
      break;
  }
  if (const Result<StoredRun> stored = read_request(record)) {
    info.request = to_text(to_json(stored->request));
    info.model_sha256 = stored->model_sha256;
    info.build = stored->build;
  }
  if (!record.result.empty()) {
    if (const Result<StoredResult> result = read_result(record)) {
      info.result = result->answer_json;
    }
  }
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
  return record ? Result<RunInfo>(info_of(*record)) : Result<RunInfo>(record.status());
}

Result<std::vector<RunInfo>> Runs::Impl::list() {
  std::vector<RunPtr> live;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [run_id, run] : runs_) {
      live.push_back(run);
    }
  }
  std::vector<RunInfo> all;
  for (const RunPtr& run : live) {
    all.push_back(info_of(*run));
  }
  if (store_ != nullptr) {
    const Result<std::vector<memory::RunRecord>> records = store_->list_runs(kListedRuns);
    if (!records) {
      return records.status();
    }
    for (const memory::RunRecord& record : *records) {
      const bool known = std::any_of(live.begin(), live.end(), [&](const RunPtr& run) {
        return run->request.run_id == record.run_id;
      });
      if (!known) {
        all.push_back(info_of(record));
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const RunInfo& a, const RunInfo& b) {
    return std::tie(b.created_ms, a.run_id) < std::tie(a.created_ms, b.run_id);
  });
  return all;
}

Status Runs::Impl::remove(std::string_view run_id) {
  bool known = false;
  if (const RunPtr run = find(run_id)) {
    {
      const std::lock_guard guard(run->lock);
      if (!run->over()) {
        return conflict("run " + std::string(run_id) + " is " + std::string(to_string(run->state)) +
                        "; cancel it first");
      }
    }
    known = true;
    const std::lock_guard guard(lock_);
    runs_.erase(runs_.find(run_id));
    std::erase(over_, run_id);
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

Result<std::string> Runs::Impl::go_on(const memory::RunRecord& record, Observer observer) {
  Result<StoredRun> stored = read_request(record);
  if (!stored) {
    return stored.status();
  }
  THINKD_CHECK(same_machine(*stored, engine_));
  auto run = std::make_shared<Run>();
  THINKD_CHECK(check(stored->request, run->params, run->strategy));
  Result<std::vector<Entry>> log = read_log(*store_, record.run_id);
  if (!log) {
    return log.status();
  }
  run->log = *std::move(log);
  run->request = std::move(stored->request);
  run->created_us = record.created_us;
  run->stored = true;
  if (observer) {
    run->observers.push_back(std::move(observer));
  }
  {
    // An interrupted run that this process still remembers makes room for its continuation.
    const std::lock_guard guard(lock_);
    const auto old = runs_.find(record.run_id);
    if (old != runs_.end()) {
      const std::lock_guard run_guard(old->second->lock);
      if (!old->second->over()) {
        return conflict("run " + record.run_id + " is " +
                        std::string(to_string(old->second->state)));
      }
    }
    if (old != runs_.end()) {
      runs_.erase(old);
      std::erase(over_, record.run_id);
    }
  }
  THINKD_CHECK(admit(std::move(run)));
  return record.run_id;
}

Result<std::string> Runs::Impl::resume(std::string_view run_id, Observer observer) {
  if (store_ == nullptr) {
    return unavailable("resume: there is no store");
  }
  if (!run_id.empty()) {
    const Result<memory::RunRecord> record = store_->get_run(run_id);
    if (!record) {
      return record.status();
    }
    if (record->state != memory::RunState::running) {
      return conflict("run " + std::string(run_id) + " is not interrupted: it is " +
                      std::string(memory::run_state_name(record->state)));
    }
    return go_on(*record, std::move(observer));
  }
  const Result<std::vector<memory::RunRecord>> records = store_->list_runs(kListedRuns);
  if (!records) {
    return records.status();
  }
  for (const memory::RunRecord& record : *records) {
    if (record.state != memory::RunState::running) {
      continue;
    }
    const RunPtr live = find(record.run_id);
    const bool at_work = live && info_of(*live).state != RunState::interrupted;
    if (!at_work) {
      return go_on(record, std::move(observer));
    }
  }
  return not_found("no run of this store is interrupted");
}

Result<uint64_t> Runs::Impl::restart_interrupted() {
  if (store_ == nullptr) {
    return uint64_t{0};
  }
  const Result<std::vector<memory::RunRecord>> records = store_->list_runs(kListedRuns);
  if (!records) {
    return records.status();
  }
  uint64_t started = 0;
  // Oldest first, in the order in which they were asked for.
  for (size_t i = records->size(); i > 0; --i) {
    const memory::RunRecord& record = (*records)[i - 1];
    const Result<StoredRun> stored = read_request(record);
    if (record.state != memory::RunState::running || !stored || !stored->request.detach ||
        find(record.run_id) || !same_machine(*stored, engine_).ok()) {
      continue;
    }
    started += go_on(record, nullptr).ok() ? 1 : 0;
  }
  return started;
}

Result<ReplayReport> Runs::Impl::replay(std::string_view run_id) {
  if (store_ == nullptr) {
    return unavailable("replay: there is no store");
  }
  const Result<memory::RunRecord> record = store_->get_run(run_id);
  if (!record) {
    return record.status();
  }
  Result<StoredRun> stored = read_request(*record);
  if (!stored) {
    return stored.status();
  }
  THINKD_CHECK(same_machine(*stored, engine_));
  std::vector<sdk::Param> params;
  const thinkd_strategy* strategy = nullptr;
  THINKD_CHECK(check(stored->request, params, strategy));
  Result<std::vector<Entry>> log = read_log(*store_, run_id);
  if (!log) {
    return log.status();
  }
  Result<std::unique_ptr<VerbHost>> host = VerbHost::create(
      HostSetup{engine_, verifiers_, stored->request, std::move(params),
                page_quota(stored->request), std::chrono::steady_clock::now(), nullptr},
      Journal(memory_sink(nullptr), *std::move(log), Journal::Mode::replay));
  if (!host) {
    return host.status();
  }
  const Outcome outcome = (*host)->run(*strategy);
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
