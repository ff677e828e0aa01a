#include "search/runs.h"

#include <nlohmann/json.hpp>

#include "memory/store.h"
#include "search/runs_impl.h"

namespace thinkd::search {

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
      options_(options),
      build_(build_of(engine, verifiers)) {}

Runs::Impl::~Impl() { drain(0); }

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
