#include "daemon/stored_runs.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "search/event.h"
#include "search/run_listing.h"
#include "search/run_record.h"

namespace thinkd::daemon {
namespace {

std::string text_of(const Json& value, const char* name) {
  const auto found = value.find(name);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string object_text(const Json& value, const char* name) {
  const auto found = value.find(name);
  return found != value.end() && found->is_object() ? to_text(*found) : std::string();
}

}  // namespace

Result<search::RunInfo> stored_run(const memory::Store& store, const std::string& run_id) {
  const Result<memory::RunRecord> record = store.get_run(run_id);
  return record ? Result<search::RunInfo>(search::recorded_run(*record)) : record.status();
}

Result<std::vector<search::RunInfo>> stored_runs(const memory::Store& store) {
  std::vector<search::RunInfo> runs;
  THINKD_CHECK(store.visit_runs(SIZE_MAX, [&](const memory::RunRecord& record) {
    runs.push_back(search::listed(search::recorded_run(record)));
  }));
  return runs;
}

Result<OrderedJson> stored_tree(const memory::Store& store, const std::string& run_id) {
  const Result<memory::RunRecord> record = store.get_run(run_id);
  if (!record) {
    return record.status();
  }
  std::vector<Json> events;
  if (!record->result.empty()) {
    const Result<search::StoredResult> result = search::read_result(*record);
    if (!result) {
      return result.status();
    }
    for (const std::string& event : result->events) {
      events.push_back(Json::parse(event, nullptr, false));
    }
  }
  return search::tree_of(events);
}

Result<search::RunInfo> run_from_json(const Json& value) {
  if (!value.is_object() || text_of(value, "run_id").empty()) {
    return corrupt("the daemon's answer is no run");
  }
  search::RunInfo info;
  info.run_id = text_of(value, "run_id");
  info.error = text_of(value, "error");
  info.model_sha256 = text_of(value, "model_sha256");
  info.build = text_of(value, "build");
  info.request = object_text(value, "request");
  const auto created = value.find("created_ms");
  info.created_ms =
      created != value.end() && created->is_number_integer() ? created->get<int64_t>() : 0;
  const std::string state = text_of(value, "state");
  for (const search::RunState one :
       {search::RunState::queued, search::RunState::running, search::RunState::done,
        search::RunState::failed, search::RunState::cancelled, search::RunState::interrupted}) {
    info.state = search::to_string(one) == state ? one : info.state;
  }
  if (value.contains("result") && value["result"].is_object()) {
    // Through the Answer, so that its members are in the contract's order again.
    const Result<search::Answer> answer = search::answer_from_json(value["result"]);
    if (!answer) {
      return answer.status();
    }
    info.result = to_text(search::to_json(*answer));
  } else if (value.contains("answer")) {  // an item of a list
    info.result = to_text(OrderedJson{{"answer", value["answer"]},
                                      {"confidence", value.value("confidence", Json())},
                                      {"stopped_by", value.value("stopped_by", Json())}});
  }
  return info;
}

OrderedJson listed_run(const search::RunInfo& info) {
  OrderedJson out = search::to_json(info);
  const OrderedJson result = out["result"];
  out.erase("result");
  for (const char* member : {"answer", "confidence", "stopped_by"}) {
    out[member] = result.is_object() && result.contains(member) ? result[member] : OrderedJson();
  }
  return out;
}

}  // namespace thinkd::daemon
