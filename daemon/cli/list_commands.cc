// strategies and verifiers: what exists, with parameters as JSON Schema and the source of each
// algorithm.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/rpc/listings.h"

namespace thinkd::daemon {
namespace {

std::string text_of(const OrderedJson& value, const char* name) {
  const auto found = value.find(name);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// The texts of a list, with a lead before the first; "" where there is none.
std::string words(const OrderedJson& value, const char* name, std::string_view lead,
                  std::string_view between = ", ") {
  std::string out;
  for (const OrderedJson& word : value.value(name, OrderedJson::array())) {
    out += out.empty() ? lead : between;
    out += word.get<std::string>();
  }
  return out;
}

// "n=8  samples drawn (integer, 1 to 4096)", a line a parameter.
void print_parameters(const OrderedJson& schema) {
  const auto properties = schema.find("properties");
  if (properties == schema.end() || properties->empty()) {
    return;
  }
  for (const auto& [name, field] : properties->items()) {
    const auto preset = field.find("default");
    const std::string value = preset == field.end() ? "" : "=" + to_text(*preset);
    std::string range = text_of(field, "type");
    if (field.contains("minimum") && field.contains("maximum")) {
      range += ", " + to_text(field["minimum"]) + " to " + to_text(field["maximum"]);
    }
    if (field.contains("enum")) {
      range = "one of " + to_text(field["enum"]);
    }
    std::string line = "    ";
    for (const std::string& part :
         {name, value, std::string("  "), text_of(field, "description"), " (" + range + ")"}) {
      line += part;
    }
    print(line);
  }
}

int print_list(const Arguments& arguments, const OrderedJson& list, const char* what) {
  const std::string name = arguments.text("NAME");
  if (name.empty()) {
    if (arguments.json()) {
      print(to_text(list));
      return kExitDone;
    }
    for (const OrderedJson& item : list) {
      print(text_of(item, "name") + words(item, "aliases", ", also ") + "  " +
            text_of(item, "description") + words(item, "roles", "; ", " or "));
      print("    source: " + text_of(item, "source"));
      print_parameters(item["params"]);
    }
    return kExitDone;
  }
  std::string known;
  for (const OrderedJson& item : list) {
    known += (known.empty() ? "" : ", ") + text_of(item, "name");
    const OrderedJson aliases = item.value("aliases", OrderedJson::array());
    const bool named =
        text_of(item, "name") == name ||
        std::find(aliases.begin(), aliases.end(), OrderedJson(name)) != aliases.end();
    if (!named) {
      continue;
    }
    if (arguments.json()) {
      print(to_text(item));
    } else {
      print(text_of(item, "name") + words(item, "aliases", ", also ") + "\n" +
            text_of(item, "description") + words(item, "roles", "\nrole: ", " or ") + "\nsource: " +
            text_of(item, "source") + "\nparameters, as JSON Schema:\n" + item["params"].dump(2));
    }
    return kExitDone;
  }
  return fail(not_found("there is no " + std::string(what) + " '" + name + "'; there is " + known),
              kExitUsage);
}

}  // namespace

int run_strategies(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<search::Registry> registry = builtin_strategies();
  return registry ? print_list(arguments, strategies_json(*registry), "strategy")
                  : fail(registry.status());
}

int run_verifiers(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  return print_list(arguments, verifiers_json(verifiers::Verifiers()), "verifier");
}

}  // namespace thinkd::daemon
