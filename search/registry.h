#pragma once
// The strategies a host knows: the built-in ones, later those of plugins. Filled at start, then read from
// any thread.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "search/request.h"

struct thinkd_host;

namespace thinkd::search {

struct StrategyInfo {
  std::string name;
  std::string summary;   // one line
  std::string source;    // where the algorithm comes from
  std::string schema;    // parameters as JSON Schema, an object
};

OrderedJson to_json(const StrategyInfo& info);  // { "name", "summary", "source", "parameters" }

}  // namespace thinkd::search
