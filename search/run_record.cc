#include "search/run_record.h"

#include <nlohmann/json.hpp>

#include "memory/store.h"

namespace thinkd::search {

std::string build_of(const engine::Engine& engine) {
  return engine.model().runner->fingerprint() + " journal " + std::to_string(kJournalVersion);
}

std::string stored_request(const Request& request, const engine::Engine& engine) {
  Json out;
  out["request"] = to_json(request);
  out["model"] = engine.model().info.sha256;
  out["build"] = build_of(engine);
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
  return StoredRun{*std::move(request), value.value("model", ""), value.value("build", "")};
}

Status same_machine(const StoredRun& run, const engine::Engine& engine) {
  const std::string& model = engine.model().info.sha256;
  if (run.model_sha256 != model) {
    return conflict("run " + run.request.run_id + " was made with model " + run.model_sha256 +
                    "; loaded is " + model);
  }
  if (run.build != build_of(engine)) {
    return conflict("run " + run.request.run_id + " was made by build \"" + run.build +
                    "\"; this one is \"" + build_of(engine) + "\"");
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
