#pragma once
// Runs as `runs list` and `runs show` tell of them, from a store that no daemon serves or from a
// daemon. Pure functions over the store; no model is needed.

#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "memory/store.h"
#include "search/runs.h"

namespace thinkd::daemon {

Result<search::RunInfo> stored_run(const memory::Store& store, const std::string& run_id);
Result<std::vector<search::RunInfo>> stored_runs(
    const memory::Store& store);  // newest first, as a list has them

// The tree of branches (search/event.h, tree_of); empty for a run that has no result yet.
Result<OrderedJson> stored_tree(const memory::Store& store, const std::string& run_id);

// What to_json(RunInfo) gave, or an item of the daemon's runs.list.
Result<search::RunInfo> run_from_json(const Json& value);

// A run in a list: to_json(info) with "answer", "confidence" and "stopped_by" in place of "result".
OrderedJson listed_run(const search::RunInfo& info);

}  // namespace thinkd::daemon
