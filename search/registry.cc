#include "search/registry.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "search/strategies/strategies.h"

namespace thinkd::search {
namespace {

std::string text_or_empty(const char* text) { return text ? text : ""; }

// "an integer from 1 to 4096": what a property of the schema takes.
std::string range_of(const Json& property) {
  const std::string type = property.value("type", "value");
  if (property.contains("enum")) {
    return "one of " + to_text(property["enum"]);
  }
  if (type == "boolean") {
    return "true or false";
  }
  if (type == "string") {
    return property.contains("maxLength")
               ? "text of at most " + to_text(property["maxLength"]) + " bytes"
               : "text";
  }
  std::string text = type == "integer" ? "an integer" : "a number";
  if (property.contains("minimum")) {
    text += " from " + to_text(property["minimum"]);
  } else if (property.contains("exclusiveMinimum")) {
    text += " above " + to_text(property["exclusiveMinimum"]);
  }
  if (property.contains("maximum")) {
    text += " to " + to_text(property["maximum"]);
  } else if (property.contains("exclusiveMaximum")) {
    text += " below " + to_text(property["exclusiveMaximum"]);
  }
  return text;
}

bool type_fits(const std::string& type, const Json& value) {
  return (type == "boolean" && value.is_boolean()) || (type == "string" && value.is_string()) ||
         (type == "integer" && value.is_number_integer() &&
          !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)) ||
         (type == "number" && value.is_number());
}

bool in_range(const Json& property, const Json& value) {
  if (property.contains("enum")) {
    for (const Json& allowed : property["enum"]) {
      if (allowed == value) {
        return true;
      }
    }
    return false;
  }
  if (value.is_string()) {
    return !property.contains("maxLength") ||
           value.get<std::string>().size() <= property["maxLength"].get<uint64_t>();
  }
  if (!value.is_number()) {
    return true;
  }
  const double number = value.get<double>();
  const auto bound = [&](const char* name, double otherwise) {
    return property.contains(name) && property[name].is_number() ? property[name].get<double>()
                                                                 : otherwise;
  };
  return number >= bound("minimum", -INFINITY) && number <= bound("maximum", INFINITY) &&
         number > bound("exclusiveMinimum", -INFINITY) &&
         number < bound("exclusiveMaximum", INFINITY);
}

sdk::Param param_of(const std::string& name, const std::string& type, const Json& value) {
  sdk::Param param;
  param.name = name;
  if (type == "boolean") {
    param.kind = sdk::ParamKind::boolean;
    param.boolean = value.get<bool>();
  } else if (type == "string") {
    param.kind = sdk::ParamKind::text;
    param.text = value.get<std::string>();
  } else if (type == "integer") {
    param.kind = sdk::ParamKind::integer;
    param.integer = value.get<int64_t>();
  } else {
    param.kind = sdk::ParamKind::number;
    param.number = value.get<double>();
  }
  return param;
}

// A number or a word that was typed for a text parameter ("final=12") is that text.
Json as_typed(const std::string& type, const Json& value) {
  return type == "string" && !value.is_string() && value.is_primitive() ? Json(to_text(value))
                                                                         : value;
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
  for (const thinkd_strategy* strategy : strategies::builtin()) {
    THINKD_CHECK(add(*strategy, "built in"));
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
    return not_found("strategy " + to_text(Json(std::string(name))) + " does not exist; known are " +
                     known);
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
  const Json schema = Json::parse(text_or_empty((*table)->params_schema), nullptr, false);
  const Json properties = schema.is_object() ? schema.value("properties", Json::object())
                                             : Json::object();
  const Json params = Json::parse(spec.params, nullptr, false);
  if (!params.is_object()) {
    return invalid(spec.name + ": params must be an object");
  }
  std::vector<sdk::Param> checked;
  for (const auto& [name, given] : params.items()) {
    if (!properties.contains(name)) {
      std::string known;
      for (const auto& [other, property] : properties.items()) {
        known += (known.empty() ? "" : ", ") + other;
      }
      return invalid(spec.name + ": unknown parameter " + to_text(Json(name)) + "; known are " +
                     (known.empty() ? "none" : known));
    }
    const Json& property = properties[name];
    const std::string type = property.value("type", "string");
    const Json value = as_typed(type, given);
    if (!type_fits(type, value) || !in_range(property, value)) {
      return invalid(spec.name + ": " + name + " is " + to_text(given) + "; it must be " +
                     range_of(property));
    }
    checked.push_back(param_of(name, type, value));
  }
  return checked;
}

}  // namespace thinkd::search
