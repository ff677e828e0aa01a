// Strategies and budgets as people type them, and as JSON.

#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/text.h"
#include "search/request.h"

namespace thinkd::search {
namespace {

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > limits::kNameBytes) {
    return false;
  }
  for (char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') {
      return false;
    }
  }
  return true;
}

Status bad_name(std::string_view what, std::string_view name) {
  return invalid(std::string(what) + " name " + to_text(Json(std::string(name))) + " is not 1 to " +
                 std::to_string(limits::kNameBytes) + " letters, digits, _ and -");
}

// Reads the text of a strategy from left to right.
class SpecParser {
 public:
  explicit SpecParser(std::string_view text) : text_(text) {}

  Result<StrategySpec> run() {
    StrategySpec spec;
    THINKD_CHECK(one(spec, "strategy"));
    while (!done()) {
      ++at_;  // one() stops at '+' or the end
      if (spec.attach.size() == limits::kAttachments) {
        return over_limit("strategy: more than " + std::to_string(limits::kAttachments) +
                          " attachments");
      }
      StrategySpec attachment;
      THINKD_CHECK(one(attachment, "attachment"));
      spec.attach.push_back(std::move(attachment));
    }
    return spec;
  }

 private:
  bool done() const { return at_ == text_.size(); }
  std::string_view until(std::string_view ends) {
    const size_t from = at_;
    at_ = std::min(text_.find_first_of(ends, at_), text_.size());
    return text_.substr(from, at_ - from);
  }

  Status one(StrategySpec& spec, std::string_view what) {
    const std::string_view name = until(":+");
    if (!is_name(name)) {
      return bad_name(what, name);
    }
    spec.name = name;
    Json params = Json::object();
    while (!done() && text_[at_] != '+') {
      ++at_;  // ':' before the first parameter, ',' before the others
      const std::string_view key = until("=,+:");
      if (!is_name(key)) {
        return bad_name(spec.name + ": parameter", key);
      }
      if (done() || text_[at_] != '=') {
        return invalid(spec.name + ": parameter " + std::string(key) + " has no value; write " +
                       std::string(key) + "=...");
      }
      ++at_;
      if (params.contains(key)) {
        return invalid(spec.name + ": parameter " + std::string(key) + " is given twice");
      }
      Result<Json> value = this->value();
      if (!value) {
        return value.status().within(spec.name + ": parameter " + std::string(key));
      }
      params[std::string(key)] = *std::move(value);
    }
    spec.params = to_text(params);
    return {};
  }

  Result<Json> value() {
    if (!done() && text_[at_] == '"') {
      const size_t from = at_++;
      while (!done() && text_[at_] != '"') {
        at_ += text_[at_] == '\\' ? 2 : 1;
      }
      if (at_ >= text_.size()) {
        at_ = text_.size();
        return invalid("the JSON string is not closed");
      }
      ++at_;
      Result<Json> string = parse_json(text_.substr(from, at_ - from));
      if (string && !done() && text_[at_] != ',' && text_[at_] != '+') {
        return invalid("there is text behind the JSON string");
      }
      return string;
    }
    const std::string_view word = until(",+:");
    if (!done() && text_[at_] == ':') {
      return invalid("a value with , + or : must be a JSON string, as in stop=\"a:b\"");
    }
    if (word.empty()) {
      return invalid("the value is empty");
    }
    if (word == "true" || word == "false") {
      return Json(word == "true");
    }
    if (has_leading_zero(word) && parse_double(word)) {
      return invalid("the number '" + std::string(word) + "' begins with 0");
    }
    if (const auto number = parse_uint(word)) {
      return Json(*number);
    }
    if (const auto number = parse_int(word)) {
      return Json(*number);
    }
    if (const auto number = parse_double(word)) {
      return Json(*number);
    }
    return Json(std::string(word));
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool needs_quotes(const std::string& text) {
  return text.empty() || text.find_first_of(",+:\"") != std::string::npos ||
         parse_double(text).has_value() || text == "true" || text == "false";
}

struct BudgetField {
  std::string_view name;
  std::optional<uint64_t> Budget::* count;
};
constexpr BudgetField kCounts[] = {
    {"tokens", &Budget::tokens},
    {"longest", &Budget::longest},
    {"verifier_calls", &Budget::verifier_calls},
    {"flops", &Budget::flops},
    {"samples", &Budget::samples},
    {"pages", &Budget::pages},
};

Status unknown_budget(std::string_view name) {
  std::string known;
  for (const BudgetField& field : kCounts) {
    known += std::string(field.name) + ", ";
  }
  return invalid("budget: unknown member " + to_text(Json(std::string(name))) + "; known are " +
                 known + "seconds");
}

Status set_budget(Budget& budget, std::string_view name, const Json& value) {
  if (name == "seconds") {
    if (!value.is_number() || !(value.get<double>() > 0) || value.get<double>() > 1e9) {
      return invalid("budget: seconds must be a number above 0, at most 1e9");
    }
    budget.seconds = value.get<double>();
    return {};
  }
  for (const BudgetField& field : kCounts) {
    if (field.name == name) {
      // A large count may be written 1e15: exact as long as a double holds it.
      uint64_t count = 0;
      if (value.is_number_unsigned()) {
        count = value.get<uint64_t>();
      } else if (value.is_number_float() && value.get<double>() >= 1 &&
                 value.get<double>() <= 1e18 &&
                 value.get<double>() ==
                     static_cast<double>(static_cast<uint64_t>(value.get<double>()))) {
        count = static_cast<uint64_t>(value.get<double>());
      }
      if (count == 0) {
        return invalid("budget: " + std::string(name) + " must be an integer from 1 up");
      }
      budget.*field.count = count;
      return {};
    }
  }
  return unknown_budget(name);
}

Result<StrategySpec> spec_object(const Json& value, bool may_attach) {
  const std::string what = may_attach ? "strategy" : "strategy: attach";
  if (!value.is_object()) {
    return invalid(what + " must be text or { \"name\", \"params\", \"attach\" }");
  }
  StrategySpec spec;
  for (const auto& [key, member] : value.items()) {
    if (key == "name" && member.is_string()) {
      spec.name = member.get<std::string>();
    } else if (key == "params" && member.is_object()) {
      spec.params = to_text(member);
    } else if (key == "attach" && may_attach && member.is_array()) {
      if (member.size() > limits::kAttachments) {
        return over_limit("strategy: attach has " + std::to_string(member.size()) +
                          " items, at most " + std::to_string(limits::kAttachments));
      }
      for (const Json& item : member) {
        Result<StrategySpec> attachment = spec_object(item, false);
        if (!attachment) {
          return attachment.status();
        }
        spec.attach.push_back(*std::move(attachment));
      }
    } else if (key == "name" || key == "params" || key == "attach") {
      return invalid(what + ": " + key + " has the wrong type");
    } else {
      return invalid(what + ": unknown member " + to_text(Json(key)));
    }
  }
  if (!is_name(spec.name)) {
    return bad_name(what, spec.name);
  }
  return spec;
}

}  // namespace

Result<StrategySpec> parse_strategy(std::string_view text) { return SpecParser(text).run(); }

Result<StrategySpec> strategy_from_json(const Json& value) {
  if (value.is_string()) {
    return parse_strategy(value.get<std::string>());
  }
  return spec_object(value, true);
}

Json to_json(const StrategySpec& spec) {
  Json out = {{"name", spec.name}, {"params", Json::parse(spec.params, nullptr, false)}};
  if (!spec.attach.empty()) {
    out["attach"] = Json::array();
    for (const StrategySpec& attachment : spec.attach) {
      out["attach"].push_back(to_json(attachment));
    }
  }
  return out;
}

std::string strategy_text(const StrategySpec& spec) {
  std::string out = spec.name;
  char separator = ':';
  const Json params = Json::parse(spec.params, nullptr, false);
  for (const auto& [key, value] : params.items()) {
    out += separator + key + '=';
    if (value.is_string() && !needs_quotes(value.get<std::string>())) {
      out += value.get<std::string>();
    } else {
      out += to_text(value);
    }
    separator = ',';
  }
  for (const StrategySpec& attachment : spec.attach) {
    out += '+' + strategy_text(attachment);
  }
  return out;
}

Result<Budget> parse_budget(std::string_view text) {
  Json object = Json::object();
  for (std::string_view typed : split(text, ',')) {
    const std::string_view part = trim(typed);
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return invalid("budget: " + to_text(Json(std::string(part))) +
                     " is not name=number, as in tokens=1000,seconds=2");
    }
    const std::string name(part.substr(0, equals));
    const std::string_view number = part.substr(equals + 1);
    if (object.contains(name)) {
      return invalid("budget: " + name + " is given twice");
    }
    if (has_leading_zero(number)) {
      object[name] = std::string(number);  // no number, as its reader says
    } else if (const auto count = parse_uint(number)) {
      object[name] = *count;
    } else if (const auto real = parse_double(number)) {
      object[name] = *real;
    } else {
      object[name] = std::string(number);
    }
  }
  return budget_from_json(object);
}

Result<Budget> budget_from_json(const Json& value) {
  if (value.is_string()) {
    return parse_budget(value.get<std::string>());
  }
  if (!value.is_object()) {
    return invalid("budget must be an object such as { \"tokens\": 1000 }");
  }
  Budget budget;
  for (const auto& [key, member] : value.items()) {
    THINKD_CHECK(set_budget(budget, key, member));
  }
  return budget;
}

Json to_json(const Budget& budget) {
  Json out = Json::object();
  for (const BudgetField& field : kCounts) {
    if (budget.*field.count) {
      out[std::string(field.name)] = *(budget.*field.count);
    }
  }
  if (budget.seconds) {
    out["seconds"] = *budget.seconds;
  }
  return out;
}

}  // namespace thinkd::search
