// Interrupted runs going on where their journals end.

#include "memory/store.h"
#include "search/runs_impl.h"

namespace thinkd::search {

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
  THINKD_CHECK(same_machine(*stored, engine_.model().info.sha256, build_));
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
  const auto at_work = [&](std::string_view run_id) {
    const RunPtr live = find(run_id);
    return live && info_of(*live).state != RunState::interrupted;
  };
  const Result<memory::RunRecord> latest = search::latest_interrupted(*store_, at_work);
  return latest ? Result<std::string>(latest->run_id) : Result<std::string>(latest.status());
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

}  // namespace thinkd::search
