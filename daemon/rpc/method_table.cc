#include "daemon/rpc/method_table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/version.h"
#include "daemon/rpc/listings.h"
#include "daemon/stored_runs.h"
#include "memory/record.h"

namespace thinkd::daemon {
namespace {

constexpr uint64_t kListedRuns = 100;  // where the caller names no number

RpcOutcome success(const OrderedJson& value) { return {to_text(value), std::nullopt}; }

RpcOutcome outcome_of(const Result<OrderedJson>& value) {
  return value ? success(*value) : rpc_failure(value.status());
}

RpcOutcome wrong(const std::string& param, const Json& value, const std::string& range) {
  RpcOutcome outcome =
      rpc_failure(invalid(param + " must be " + range + ", not " + excerpt_of(value)));
  outcome.error->param = param;
  return outcome;
}

Result<std::string> run_id_of(const Json& params) {
  const auto run_id = params.find("run_id");
  if (run_id == params.end() || !run_id->is_string()) {
    return invalid("run_id must be text");
  }
  THINKD_CHECK(memory::check_run_id(run_id->get_ref<const std::string&>()));
  return run_id->get<std::string>();
}

// Hands the run id to `work`, or says that it is missing or no run id.
template <class Work>
RpcOutcome with_run(const Json& params, Work work) {
  const Result<std::string> run_id = run_id_of(params);
  if (!run_id) {
    RpcOutcome outcome = rpc_failure(run_id.status());
    outcome.error->param = "run_id";
    return outcome;
  }
  return work(*run_id);
}

RpcOutcome cancel(const Services& services, const Json& params) {
  return with_run(params, [&](const std::string& run_id) {
    if (const Status status = services.runs.cancel(run_id); !status.ok()) {
      return rpc_failure(status);
    }
    return success({{"run_id", run_id}});
  });
}

RpcOutcome get_run(const Services& services, const Json& params) {
  return with_run(params, [&](const std::string& run_id) {
    const Result<search::RunInfo> info = services.runs.get(run_id);
    return info ? success(search::to_json(*info)) : rpc_failure(info.status());
  });
}

RpcOutcome remove_run(const Services& services, const Json& params) {
  return with_run(params, [&](const std::string& run_id) {
    if (const Status status = services.runs.remove(run_id); !status.ok()) {
      return rpc_failure(status);
    }
    return success({{"run_id", run_id}});
  });
}

RpcOutcome explain(const Services& services, const Json& params) {
  return with_run(
      params, [&](const std::string& run_id) { return outcome_of(services.runs.explain(run_id)); });
}

RpcOutcome replay(const Services& services, const Json& params) {
  return with_run(params, [&](const std::string& run_id) {
    const Result<search::ReplayReport> report = services.runs.replay(run_id);
    if (!report) {
      return rpc_failure(report.status());
    }
    return success({{"run_id", run_id},
                    {"equal", report->equal},
                    {"entries", report->entries},
                    {"index", report->index},
                    {"verb", report->verb},
                    {"branch", report->branch},
                    {"logged", report->logged},
                    {"generated", report->generated}});
  });
}

RpcOutcome list_runs(const Services& services, const Json& params) {
  uint64_t most = kListedRuns;
  if (const auto limit = params.find("limit"); limit != params.end()) {
    if (!limit->is_number_unsigned() || *limit == 0 ||
        limit->get<uint64_t>() > limits::kRpcListedRuns) {
      return wrong("limit", *limit,
                   "an integer from 1 to " + std::to_string(limits::kRpcListedRuns));
    }
    most = limit->get<uint64_t>();
  }
  const Result<std::vector<search::RunInfo>> runs = services.runs.list(most);
  if (!runs) {
    return rpc_failure(runs.status());
  }
  OrderedJson list = OrderedJson::array();
  for (const search::RunInfo& run : *runs) {
    list.push_back(listed_run(run));
  }
  return success(list);
}

RpcOutcome list_strategies(const Services& services, const Json&) {
  return success(strategies_json(services.registry));
}

RpcOutcome list_verifiers(const Services& services, const Json&) {
  return success(verifiers_json(services.verifiers));
}

RpcOutcome list_models(const Services& services, const Json&) {
  return outcome_of(models_json(services.store_dir));
}

RpcOutcome server_status(const Services& services, const Json&) {
  const search::RunsCounters counters = services.runs.counters();
  const engine::EngineStatus status = services.engine.status();
  return success({{"version", std::string(version())},
                  {"model", services.model},
                  {"isa", services.isa},
                  {"steps", status.steps},
                  {"rows", status.rows},
                  {"pages_used", status.pages_used},
                  {"pages_cached", status.pages_cached},
                  {"pages_total", status.pages_total},
                  {"branches", counters.branches},
                  {"runs", counters.runs}});
}

constexpr std::string_view kRunId[] = {"run_id"};
constexpr std::string_view kLimit[] = {"limit"};
constexpr std::string_view kResume[] = {"run_id", "detach"};

constexpr MethodEntry kMethods[] = {
    {"solve", {}, nullptr},
    {"cancel", kRunId, &cancel},
    {"explain", kRunId, &explain},
    {"runs.get", kRunId, &get_run},
    {"runs.list", kLimit, &list_runs},
    {"runs.cancel", kRunId, &cancel},
    {"runs.remove", kRunId, &remove_run},
    {"runs.resume", kResume, nullptr},
    {"runs.replay", kRunId, &replay},
    {"strategies.list", {}, &list_strategies},
    {"verifiers.list", {}, &list_verifiers},
    {"models.list", {}, &list_models},
    {"server.status", {}, &server_status},
};

}  // namespace

const MethodEntry* find_method(std::string_view name) {
  const auto found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                  [&](const MethodEntry& entry) { return entry.name == name; });
  return found == std::end(kMethods) ? nullptr : &*found;
}

std::optional<RpcError> unknown_member(const MethodEntry& entry, const Json& params) {
  for (const auto& [key, value] : params.items()) {
    if (std::find(entry.members.begin(), entry.members.end(), key) == entry.members.end()) {
      RpcError error = rpc_error(invalid("unknown member " + to_text(Json(key))));
      error.param = key;
      return error;
    }
  }
  return std::nullopt;
}

Result<std::string> interrupted_run(const Services& services, const Json& params) {
  if (const auto detach = params.find("detach"); detach != params.end() && !detach->is_boolean()) {
    return invalid("detach must be true or false");
  }
  if (params.contains("run_id")) {
    return run_id_of(params);
  }
  return services.runs.latest_interrupted();
}

}  // namespace thinkd::daemon
