#pragma once
// The strategies a host knows: the built-in ones, later those of plugins. Filled at start, then
// read from any thread. Parameters are checked before a run begins, by the strategy itself.

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "plugins/sdk/thinkd_plugin.h"
#include "plugins/sdk/values.h"
#include "search/request.h"

namespace thinkd::search {

struct StrategyInfo {
  std::string name;
  std::string description;  // one line
  std::string source;       // where the algorithm comes from
  std::string schema;       // parameters as JSON Schema, an object
  std::string origin;       // "built in", or the plugin it comes from
};

OrderedJson to_json(
    const StrategyInfo& info);  // { "name", "description", "source", "origin", "params" }

class Registry {
 public:
  // The table must outlive the registry. conflict: the name is taken; invalid: no name, no run().
  Status add(const thinkd_strategy& strategy, std::string_view origin);
  // search/strategies/: what every host has.
  Status add_builtin();

  // not_found lists what exists.
  Result<const thinkd_strategy*> find(std::string_view name) const;
  std::vector<StrategyInfo> list() const;  // by name
  Result<StrategyInfo> info(std::string_view name) const;

  // The spec's parameters as a strategy takes them. invalid names a parameter that the strategy
  // does not have, whose type is wrong or which is out of range, and says what is allowed. There
  // are no attachments yet: any is not_found.
  Result<std::vector<sdk::Param>> check(const StrategySpec& spec) const;

 private:
  struct Entry {
    const thinkd_strategy* table = nullptr;
    std::string origin;
  };
  std::map<std::string, Entry, std::less<>> entries_;
  std::deque<thinkd_strategy> builtin_;
};

// A JSON object of parameters as records carry them; invalid names one that is no number, text or
// truth.
Result<std::vector<sdk::Param>> params_from_json(std::string_view object);

}  // namespace thinkd::search
