#include "search/run_record.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/limits.h"
#include "base/version.h"
#include "memory/store.h"
#include "search/runs.h"

namespace thinkd::search {
namespace {

RunState state_of(memory::RunState state) {
  switch (state) {
    case memory::RunState::running:
      return RunState::interrupted;  // nobody runs it
    case memory::RunState::done:
      return RunState::done;
    case memory::RunState::failed:
      return RunState::failed;
    case memory::RunState::cancelled:
      return RunState::cancelled;
  }
  return RunState::failed;
}

}  // namespace

std::string build_of(const engine::Engine& engine, const verifiers::Verifiers& verifiers) {
  std::string build = std::string(build_id()) + " " + engine.model().runner->fingerprint() +
                      " journal " + std::to_string(kJournalVersion);
  if (const verifiers::StateScorer* scorer = verifiers.attached()) {
    build += " scorer " + scorer->sha256();
  }
  return build;
}

std::string stored_request(const Request& request, uint32_t pages, std::string_view model_sha256,
                           std::string_view build) {
  Json out;
  out["request"] = to_json(request);
  out["model"] = model_sha256;
  out["build"] = build;
  out["pages"] = pages;
  return to_text(out);
}

std::string stored_result(const Answer& answer, std::span<const Event> events) {
  OrderedJson out;
  out["answer"] = to_json(answer);
  out["events"] = OrderedJson::array();
  for (const Event& event : events) {
    out["events"].push_back(to_json(event));
  }
  return to_text(out);
}

Result<StoredRun> read_request(const memory::RunRecord& record) {
  const Json value = Json::parse(record.request, nullptr, false);
  if (!value.is_object() || !value.contains("request")) {
    return corrupt("run " + record.run_id + ": its stored request cannot be read");
  }
  Result<Request> request = request_from_json(value["request"]);
  if (!request) {
    return corrupt("run " + record.run_id + ": stored request: " + request.status().message());
  }
  const auto text = [&](const char* name) {
    const auto found = value.find(name);
    return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  // An older build kept no quota; same_machine() refuses its runs.
  const Json pages = value.value("pages", Json(0u));
  if (!pages.is_number_unsigned() || pages.get<uint64_t>() > UINT32_MAX) {
    return corrupt("run " + record.run_id + ": its stored page quota is " + to_text(pages));
  }
  return StoredRun{*std::move(request), text("model"), text("build"), pages.get<uint32_t>()};
}

Status same_machine(const StoredRun& run, std::string_view model_sha256, std::string_view build) {
  if (run.model_sha256 != model_sha256) {
    return conflict("run " + run.request.run_id + " was made with model " + run.model_sha256 +
                    "; loaded is " + std::string(model_sha256));
  }
  if (run.build != build) {
    return conflict("run " + run.request.run_id + " was made by build \"" + run.build +
                    "\"; this one is \"" + std::string(build) +
                    "\": only the build that made a run goes on with it or replays it");
  }
  return {};
}

Result<StoredResult> read_result(const memory::RunRecord& record) {
  const OrderedJson ordered = OrderedJson::parse(record.result, nullptr, false);
  const Json value = Json::parse(record.result, nullptr, false);
  if (!value.is_object() || !value.contains("answer")) {
    return corrupt("run " + record.run_id + ": its stored result cannot be read");
  }
  Result<Answer> answer = answer_from_json(value["answer"]);
  if (!answer) {
    return answer.status().within("run " + record.run_id);
  }
  StoredResult result{*std::move(answer), to_text(ordered["answer"]), {}};
  if (ordered.contains("events")) {
    for (const OrderedJson& event : ordered["events"]) {
      result.events.push_back(to_text(event));
    }
  }
  return result;
}

RunInfo recorded_run(const memory::RunRecord& record) {
  RunInfo info;
  info.run_id = record.run_id;
  info.state = state_of(record.state);
  info.created_ms = record.created_us / 1000;
  info.error = record.error;
  if (const Result<StoredRun> run = read_request(record)) {
    info.request = to_text(to_json(run->request));
    info.model_sha256 = run->model_sha256;
    info.build = run->build;
  } else {
    info.error = run.status().message();
  }
  if (!record.result.empty()) {
    if (const Result<StoredResult> result = read_result(record)) {
      info.result = result->answer_json;
    } else {
      info.error = result.status().message();
    }
  }
  return info;
}

Result<memory::RunRecord> latest_interrupted(
    const memory::Store& store, const std::function<bool(std::string_view run_id)>& at_work) {
  std::optional<memory::RunRecord> latest;
  THINKD_CHECK(store.visit_runs(limits::kListedRuns, [&](const memory::RunRecord& record) {
    if (!latest && record.state == memory::RunState::running && !at_work(record.run_id)) {
      latest = record;
    }
  }));
  return latest ? Result<memory::RunRecord>(*std::move(latest))
                : not_found("no run of this store is interrupted");
}

Result<std::vector<Entry>> read_log(const memory::Store& store, std::string_view run_id) {
  Result<std::vector<std::string>> bytes = store.read_journal(run_id);
  if (!bytes) {
    return bytes.status();
  }
  std::vector<Entry> log;
  for (const std::string& one : *bytes) {
    Result<Entry> entry = decode_entry(one);
    if (!entry) {
      return entry.status().within("run " + std::string(run_id) + ", entry " +
                                   std::to_string(log.size()));
    }
    if (entry->index != log.size()) {
      return corrupt("run " + std::string(run_id) + ": entry " + std::to_string(log.size()) +
                     " calls itself " + std::to_string(entry->index));
    }
    log.push_back(*std::move(entry));
  }
  return log;
}

}  // namespace thinkd::search
