// ask: a question in, an answer, its confidence and its bill out. In this process, or in the daemon
// that serves the store.

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/place.h"
#include "daemon/cli/request_flags.h"
#include "daemon/cli/wait_run.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/models/shipped.h"
#include "daemon/signals.h"
#include "search/judges.h"

namespace thinkd::daemon {
namespace {

// What --numbers and --target say; whole numbers of 64 bits, signs allowed.
Status add_countdown(const Arguments& arguments, Json& into) {
  const auto integer = [&](const char* flag, std::string_view text) -> Result<int64_t> {
    const std::optional<int64_t> value = parse_int(text);
    if (!value || has_leading_zero(text)) {
      return invalid("--" + std::string(flag) + ": '" +
                     escape_controls(repair_utf8(text.substr(0, 80))) +
                     "' is not an integer of 64 bits");
    }
    return *value;
  };
  if (arguments.has("numbers")) {
    into["numbers"] = Json::array();
    const std::string text = arguments.text("numbers");
    for (std::string_view part : split(text, ',')) {
      const Result<int64_t> number = integer("numbers", part);
      THINKD_CHECK(number.status());
      into["numbers"].push_back(*number);
    }
  }
  if (arguments.has("target")) {
    const Result<int64_t> target = integer("target", arguments.text("target"));
    THINKD_CHECK(target.status());
    into["target"] = *target;
  }
  if (arguments.has("use")) {
    into["use"] = arguments.text("use");
  }
  return {};
}

Result<search::Request> read_request(const Arguments& arguments) {
  Json members = {{"run_id", search::new_run_id()}, {"trace", !arguments.has("no-trace")}};
  if (arguments.has("QUESTION")) {
    members["question"] = arguments.text("QUESTION");
  } else if (!arguments.has("numbers")) {
    return invalid("QUESTION is required");
  }
  for (const char* name : {"QUESTION", "system", "task", "verifier", "use"}) {
    if (arguments.has(name) && !valid_utf8(arguments.text(name))) {
      return invalid(std::string(name) + ": the text is not UTF-8");
    }
  }
  for (const char* name : {"system", "task", "verifier"}) {
    if (arguments.has(name)) {
      members[name] = arguments.text(name);
    }
  }
  THINKD_CHECK(add_countdown(arguments, members));
  if (arguments.has("strategy")) {
    const Result<search::StrategySpec> strategy =
        search::parse_strategy(arguments.text("strategy"));
    THINKD_CHECK(strategy.status().within("--strategy"));
    members["strategy"] = search::to_json(*strategy);
  }
  if (arguments.has("budget")) {
    members["budget"] = arguments.text("budget");
  }
  THINKD_CHECK(add_sampling(arguments, members));
  THINKD_CHECK(add_count(arguments, "seed", members));
  Result<search::Request> request = search::request_from_json(members);
  return request ? std::move(request) : as_typed(request.status(), "strategy");
}

// Strategy and verifier exist and take these parameters; told before a model is loaded.
Status check_names(const search::Request& request) {
  const Result<search::Registry> registry = builtin_strategies();
  THINKD_CHECK(registry.status());
  const Result<std::vector<sdk::Param>> params = registry->check(request.strategy);
  THINKD_CHECK(params.status().within("--strategy"));
  const Status judges = search::check_judges(verifiers::Verifiers(), request, *params);
  // Whether the model has a scorer of its own is known when it is loaded.
  return judges.code() == Code::unavailable ? Status() : as_typed(judges, "strategy");
}

int ask_daemon(const Arguments& arguments, const Config& config, const Endpoint& daemon,
               const search::Request& request) {
  warn_of_engine_flags(arguments);
  Json params = search::to_json(request);
  if (!config.model.empty()) {
    params["model"] = config.model;
  }
  SignalWatch signals;
  return wait_in_daemon(arguments, signals, {daemon, "solve", params, request.run_id});
}

// The model that comes with the program answers whoever names none; most questions are not for it.
void say_what_it_knows(const Config& config, const search::Request& request) {
  const bool puzzle = request.task == "countdown" || request.task == "game24";
  if (config.model.empty() && !puzzle) {
    complain("no --model: " + std::string(kShippedModel) +
             " answers, which knows Countdown puzzles (--numbers 4,5,6,10 --target 24) and nothing "
             "else");
  }
}

int ask_here(const Arguments& arguments, const Config& config, const std::string& store_dir,
             search::Request request) {
  SignalWatch signals;
  std::unique_ptr<memory::Store> store;
  if (request.trace) {
    Result<std::unique_ptr<memory::Store>> opened = memory::Store::open(store_dir);
    if (!opened) {
      return fail(opened.status(), store_exit_code(opened.status()));
    }
    store = *std::move(opened);
  }
  const Result<std::unique_ptr<House>> house = build_house(config, std::move(store));
  if (!house) {
    return fail(house.status());
  }
  say_what_it_knows(config, request);
  return wait_here(arguments, **house, signals, [&](search::Observer observer) {
    return (*house)->runs->start(std::move(request), std::move(observer));
  });
}

}  // namespace

int run_ask(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  Result<search::Request> request = read_request(arguments);
  if (!request) {
    return fail(request.status());
  }
  const Result<Place> place = find_place(arguments, *config);
  if (!place && !(arguments.has("no-trace") && !arguments.has("server"))) {
    return fail(place.status());
  }
  if (place && place->daemon) {
    return ask_daemon(arguments, *config, *place->daemon, *request);
  }
  if (const Status names = check_names(*request); !names.ok()) {
    return fail(names, kExitUsage);
  }
  return ask_here(arguments, *config, place ? place->store_dir : std::string(),
                  *std::move(request));
}

}  // namespace thinkd::daemon
