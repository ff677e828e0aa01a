// resume, replay and runs list|show|rm: what became of earlier questions.

#include <nlohmann/json.hpp>

#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/place.h"
#include "daemon/cli/show_run.h"
#include "daemon/cli/wait_run.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/signals.h"
#include "daemon/stored_runs.h"

namespace thinkd::daemon {
namespace {

constexpr uint64_t kListedRuns = 10'000;  // what a daemon is asked for

// The command's place, and the opened store where no daemon answers; or the code to exit with.
struct Opened {
  Config config;
  Place place;
  std::unique_ptr<memory::Store> store;
  int code = kExitDone;
};

Opened open_place(const Arguments& arguments) {
  Opened opened;
  const auto failed = [&opened](int code) {
    opened.code = code;
    return std::move(opened);
  };
  Result<Config> config = load_config(arguments);
  if (!config) {
    return failed(fail(config.status()));
  }
  opened.config = *std::move(config);
  Result<Place> place = find_place(arguments, opened.config);
  if (!place) {
    return failed(fail(place.status()));
  }
  opened.place = *std::move(place);
  if (!opened.place.daemon) {
    Result<std::unique_ptr<memory::Store>> store = memory::Store::open(opened.place.store_dir);
    if (!store) {
      return failed(fail(store.status(), store_exit_code(store.status())));
    }
    opened.store = *std::move(store);
  }
  return opened;
}

Result<std::vector<search::RunInfo>> all_runs(const Opened& opened) {
  if (opened.store) {
    return stored_runs(*opened.store);
  }
  const Result<Json> list = call(*opened.place.daemon, "runs.list", {{"limit", kListedRuns}});
  if (!list) {
    return list.status();
  }
  std::vector<search::RunInfo> runs;
  for (const Json& item : *list) {
    Result<search::RunInfo> info = run_from_json(item);
    if (!info) {
      return info.status();
    }
    runs.push_back(*std::move(info));
  }
  return runs;
}

Result<search::RunInfo> one_run(const Opened& opened, const std::string& run_id) {
  if (opened.store) {
    return stored_run(*opened.store, run_id);
  }
  const Result<Json> value = call(*opened.place.daemon, "runs.get", {{"run_id", run_id}});
  return value ? run_from_json(*value) : value.status();
}

Result<OrderedJson> tree_of_run(const Opened& opened, const std::string& run_id) {
  if (opened.store) {
    return stored_tree(*opened.store, run_id);
  }
  const Result<Json> value = call(*opened.place.daemon, "explain", {{"run_id", run_id}});
  return value ? Result<OrderedJson>(OrderedJson(*value)) : value.status();
}

Status remove_one(const Opened& opened, const std::string& run_id) {
  if (opened.store) {
    return opened.store->remove_run(run_id);
  }
  return call(*opened.place.daemon, "runs.remove", {{"run_id", run_id}}).status();
}

Result<search::ReplayReport> report_from_json(const Json& value) {
  const auto text = [&](const char* name) {
    return value.contains(name) && value[name].is_string() ? value[name].get<std::string>()
                                                           : std::string();
  };
  if (!value.is_object() || !value.contains("equal") || !value["equal"].is_boolean()) {
    return corrupt("the daemon's answer is no report of a replay");
  }
  search::ReplayReport report;
  report.equal = value["equal"].get<bool>();
  report.entries = value.value("entries", uint64_t{0});
  report.index = value.value("index", uint64_t{0});
  report.verb = text("verb");
  report.branch = text("branch");
  report.logged = text("logged");
  report.generated = text("generated");
  return report;
}

// The model in this process, once the run's own is found.
Result<std::unique_ptr<House>> house_of_run(Opened& opened, const std::string& run_id) {
  THINKD_CHECK(choose_model_of_run(*opened.store, run_id, opened.config));
  return build_house(opened.config, std::move(opened.store));
}

Result<search::ReplayReport> replayed(Opened& opened, const std::string& run_id) {
  const ProgressLine progress(
      [](double seconds) { return "generating again, " + shown_number(seconds, 0) + " s"; });
  if (opened.place.daemon) {
    const Result<Json> value = call(*opened.place.daemon, "runs.replay", {{"run_id", run_id}});
    return value ? report_from_json(*value) : value.status();
  }
  const Result<std::unique_ptr<House>> house = house_of_run(opened, run_id);
  if (!house) {
    return house.status();
  }
  return (*house)->runs->replay(run_id);
}

int show_report(const Arguments& arguments, const std::string& run_id,
                const search::ReplayReport& report) {
  if (arguments.json()) {
    print(to_text(OrderedJson{{"run_id", run_id},
                              {"equal", report.equal},
                              {"entries", report.entries},
                              {"index", report.index},
                              {"verb", report.verb},
                              {"branch", report.branch},
                              {"logged", report.logged},
                              {"generated", report.generated}}));
  } else if (report.equal) {
    print("equal: " + std::to_string(report.entries) + " journal entries and the answer");
  }
  if (report.equal) {
    return kExitDone;
  }
  complain("run " + run_id + " differs at entry " + std::to_string(report.index) + " (" +
           report.verb + (report.branch.empty() ? "" : ", branch " + report.branch) +
           "): the trace has " + report.logged + ", generated was " + report.generated);
  return kExitFailed;
}

}  // namespace

int run_resume(const Arguments& arguments) {
  SignalWatch signals;
  Opened opened = open_place(arguments);
  if (opened.code != kExitDone) {
    return opened.code;
  }
  const std::string run_id = arguments.text("RUN_ID");
  if (opened.place.daemon) {
    warn_of_engine_flags(arguments);
    const Json params = run_id.empty() ? Json::object() : Json{{"run_id", run_id}};
    return wait_in_daemon(arguments, signals,
                          {*opened.place.daemon, "runs.resume", params, run_id});
  }
  const Result<std::unique_ptr<House>> house = house_of_run(opened, run_id);
  if (!house) {
    return fail(house.status());
  }
  return wait_here(arguments, **house, signals, [&](search::Observer observer) {
    return (*house)->runs->resume(run_id, std::move(observer));
  });
}

int run_replay(const Arguments& arguments) {
  Opened opened = open_place(arguments);
  if (opened.code != kExitDone) {
    return opened.code;
  }
  if (opened.place.daemon) {
    warn_of_engine_flags(arguments);
  }
  const std::string run_id = arguments.text("RUN_ID");
  const Result<search::ReplayReport> report = replayed(opened, run_id);
  return report ? show_report(arguments, run_id, *report) : fail(report.status());
}

int run_runs_list(const Arguments& arguments) {
  const Opened opened = open_place(arguments);
  if (opened.code != kExitDone) {
    return opened.code;
  }
  const Result<std::vector<search::RunInfo>> runs = all_runs(opened);
  if (!runs) {
    return fail(runs.status());
  }
  OrderedJson list = OrderedJson::array();
  for (const search::RunInfo& info : *runs) {
    if (arguments.json()) {
      list.push_back(listed_run(info));
    } else {
      print(shown_run_line(info));
    }
  }
  if (arguments.json()) {
    print(to_text(list));
  } else if (runs->empty()) {
    print("no runs");
  }
  return kExitDone;
}

int run_runs_show(const Arguments& arguments) {
  const Opened opened = open_place(arguments);
  if (opened.code != kExitDone) {
    return opened.code;
  }
  const std::string run_id = arguments.text("RUN_ID");
  const Result<search::RunInfo> info = one_run(opened, run_id);
  if (!info) {
    return fail(info.status());
  }
  const Result<OrderedJson> tree = tree_of_run(opened, run_id);
  if (!tree) {
    return fail(tree.status());
  }
  if (arguments.json()) {
    OrderedJson out = search::to_json(*info);
    out["tree"] = *tree;
    print(to_text(out));
  } else {
    print(shown_run(*info) + "\n\n" + shown_tree(Json(*tree)));
  }
  return kExitDone;
}

int run_runs_remove(const Arguments& arguments) {
  const Opened opened = open_place(arguments);
  if (opened.code != kExitDone) {
    return opened.code;
  }
  OrderedJson removed = OrderedJson::array();
  int code = kExitDone;
  for (const std::string& run_id : arguments.texts("RUN_ID")) {
    if (const Status status = remove_one(opened, run_id); !status.ok()) {
      code = fail(status);
      continue;
    }
    removed.push_back(run_id);
    if (!arguments.json()) {
      print("removed " + run_id);
    }
  }
  if (arguments.json()) {
    print(to_text(OrderedJson{{"removed", removed}}));
  }
  return code;
}

}  // namespace thinkd::daemon
