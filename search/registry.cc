#include "search/registry.h"

#include <cstddef>
#include <nlohmann/json.hpp>

#include "plugins/sdk/codec.h"
#include "plugins/sdk/strategy.h"
#include "search/strategies/strategies.h"

namespace thinkd::search {
namespace {

std::string text_or_empty(const char* text) { return text ? text : ""; }

void take_text(void* into, const char* text, size_t size) {
  static_cast<std::string*>(into)->assign(text, size);
}

// What the strategy itself says of the parameters.
Status checked_by(const thinkd_strategy& strategy, const std::vector<sdk::Param>& params) {
  constexpr size_t kEnd = offsetof(thinkd_strategy, check) + sizeof(strategy.check);
  if (strategy.struct_size < kEnd || strategy.check == nullptr) {
    return {};
  }
  sdk::RunRequest request;
  request.params = params;
  const sdk::Bytes bytes = sdk::encode(request);
  std::string reason;
  if (strategy.check(strategy.self, bytes.data(), bytes.size(), &take_text, &reason) == THINKD_OK) {
    return {};
  }
  return invalid(reason.empty() ? std::string(strategy.name) + ": the parameters are refused"
                                : reason);
}

}  // namespace

OrderedJson to_json(const StrategyInfo& info) {
  OrderedJson out;
  out["name"] = info.name;
  out["description"] = info.description;
  out["source"] = info.source;
  out["origin"] = info.origin;
  OrderedJson schema = OrderedJson::parse(info.schema, nullptr, false);
  out["params"] = schema.is_discarded() ? OrderedJson::object() : schema;
  return out;
}

Result<std::vector<sdk::Param>> params_from_json(std::string_view object) {
  const Json params = Json::parse(object, nullptr, false);
  if (!params.is_object()) {
    return invalid("params must be an object");
  }
  std::vector<sdk::Param> all;
  for (const auto& [name, value] : params.items()) {
    sdk::Param param;
    param.name = name;
    if (value.is_boolean()) {
      param.kind = sdk::ParamKind::boolean;
      param.boolean = value.get<bool>();
    } else if (value.is_string()) {
      param.kind = sdk::ParamKind::text;
      param.text = value.get<std::string>();
    } else if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) {
      return invalid("parameter " + name + " is " + to_text(value) + "; integers have 63 bits");
    } else if (value.is_number_integer()) {
      param.kind = sdk::ParamKind::integer;
      param.integer = value.get<int64_t>();
    } else if (value.is_number()) {
      param.kind = sdk::ParamKind::number;
      param.number = value.get<double>();
    } else {
      return invalid("parameter " + name + " must be a number, text, true or false");
    }
    all.push_back(std::move(param));
  }
  return all;
}

Status Registry::add(const thinkd_strategy& strategy, std::string_view origin) {
  const std::string name = text_or_empty(strategy.name);
  if (name.empty() || strategy.run == nullptr) {
    return invalid("a strategy from " + std::string(origin) + " has no name or no run()");
  }
  const Json schema = Json::parse(text_or_empty(strategy.params_schema), nullptr, false);
  if (schema.is_discarded() || !schema.is_object()) {
    return invalid("strategy " + name + ": its parameter schema is not a JSON object");
  }
  if (!entries_.emplace(name, Entry{&strategy, std::string(origin)}).second) {
    return conflict("strategy " + name + " from " + std::string(origin) +
                    " has the name of one that is there already");
  }
  return {};
}

Status Registry::add_builtin() {
  for (const sdk::StrategyInfo& strategy : builtin_strategies()) {
    THINKD_CHECK(add(builtin_.emplace_back(sdk::entry(strategy)), "built in"));
  }
  return {};
}

Result<const thinkd_strategy*> Registry::find(std::string_view name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::string known;
    for (const auto& [other, entry] : entries_) {
      known += (known.empty() ? "" : ", ") + other;
    }
    return not_found("strategy " + to_text(Json(std::string(name))) +
                     " does not exist; known are " + known);
  }
  return found->second.table;
}

Result<StrategyInfo> Registry::info(std::string_view name) const {
  Result<const thinkd_strategy*> table = find(name);
  if (!table) {
    return table.status();
  }
  return StrategyInfo{(*table)->name, text_or_empty((*table)->description),
                      text_or_empty((*table)->source), text_or_empty((*table)->params_schema),
                      entries_.find(name)->second.origin};
}

std::vector<StrategyInfo> Registry::list() const {
  std::vector<StrategyInfo> all;
  for (const auto& [name, entry] : entries_) {
    all.push_back(*info(name));
  }
  return all;
}

Result<std::vector<sdk::Param>> Registry::check(const StrategySpec& spec) const {
  Result<const thinkd_strategy*> table = find(spec.name);
  if (!table) {
    return table.status();
  }
  if (!spec.attach.empty()) {
    return not_found("attachment " + to_text(Json(spec.attach.front().name)) +
                     " does not exist; this build has no attachments");
  }
  Result<std::vector<sdk::Param>> params = params_from_json(spec.params);
  if (!params) {
    return params.status().within(spec.name);
  }
  THINKD_CHECK(checked_by(**table, *params));
  return params;
}

}  // namespace thinkd::search
