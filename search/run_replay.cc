// A finished run generated again beside its journal, to the first entry that differs.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "memory/store.h"
#include "search/runs_impl.h"

namespace thinkd::search {
namespace {

// What two answers to one request must share, whatever was cached.
std::string comparable(const Answer& answer) {
  OrderedJson out = to_json(answer);
  return to_text(OrderedJson{{"answer", out["answer"]},
                             {"stopped_by", out["stopped_by"]},
                             {"candidates", out["candidates"]}});
}

}  // namespace

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
  THINKD_CHECK(same_machine(*stored, engine_.model().info.sha256, build_));
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
