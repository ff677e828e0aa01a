// Runs as they are looked at: what this process remembers and what the store knows.

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
  info.build = build_;
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

}  // namespace thinkd::search
