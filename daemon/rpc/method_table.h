#pragma once
// The methods that answer at once: a table of names, the members that each takes, and how it
// answers. Those that begin a run (solve, runs.resume) stand in methods.cc; here they have their
// names only. Internal to daemon/rpc; any thread.

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/rpc/methods.h"

namespace thinkd::daemon {

struct MethodEntry {
  std::string_view name;
  std::span<const std::string_view> members;
  RpcOutcome (*run)(const Services& services, const Json& params);  // null: begins a run
};

const MethodEntry* find_method(std::string_view name);  // null where there is none

// -32602 naming the first member that the method does not take.
std::optional<RpcError> unknown_member(const MethodEntry& entry, const Json& params);

// The run to resume: the named one, else the latest interrupted one.
Result<std::string> interrupted_run(const Services& services, const Json& params);

}  // namespace thinkd::daemon
