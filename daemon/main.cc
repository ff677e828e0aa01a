// The program. Commands that come and go stand in daemon/cli/; here is the one that stays.

#include <exception>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/cli/command_line.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/rpc/server.h"
#include "daemon/signals.h"
#include "memory/paths.h"
#include "search/journal.h"

namespace thinkd::daemon {
namespace {

ServerOptions server_options(const Config& config, const std::string& store_dir) {
  ServerOptions options;
  options.listen = config.listen;
  options.socket_path = memory::socket_path(store_dir);
  return options;
}

// Answers until a signal comes; then lets runs finish for a while and keeps the state of the
// others.
int serve(const Arguments& arguments, const Config& config, const std::string& store_dir) {
  SignalWatch signals;
  Result<std::unique_ptr<memory::Store>> store = memory::Store::open(store_dir);
  if (!store) {
    return fail(store.status(), store_exit_code(store.status()));
  }
  const Result<std::unique_ptr<House>> house = build_house(config, *std::move(store));
  if (!house) {
    return fail(house.status());
  }
  search::Runs& runs = *(*house)->runs;
  if (const Result<uint64_t> restarted = runs.restart_interrupted(); !restarted) {
    return fail(restarted.status());
  }
  const engine::Engine& engine = *(*house)->engine;
  const Services services = {runs,      *(*house)->engine, (*house)->registry, (*house)->verifiers,
                             store_dir, config.model,      isa_name(config)};
  const std::future<void> stopped = signals.first();  // before anyone hears that it serves
  const ServerOptions options = server_options(config, store_dir);
  const Result<std::unique_ptr<Server>> server = Server::start(options, services);
  if (!server) {
    return fail(server.status());
  }
  if (arguments.json()) {
    print(to_text(OrderedJson{{"port", (*server)->port()}, {"socket", options.socket_path}}));
  } else {
    print("thinkd serves " + engine.model().info.name + " on port " +
          std::to_string((*server)->port()) + " and " + options.socket_path);
  }
  if (finish_output(kExitDone) != kExitDone) {
    return kExitFailed;
  }
  stopped.wait();
  (*server)->stop_listening();
  runs.drain(config.drain_seconds);
  return kExitDone;
}

}  // namespace

int run_serve(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<std::string> folder = store_dir(*config);
  return folder ? serve(arguments, *config, *folder) : fail(folder.status());
}

}  // namespace thinkd::daemon

int main(int argc, char** argv) {
  using namespace thinkd::daemon;
  try {
    if (const thinkd::Status fault = thinkd::search::check_fault(); !fault.ok()) {
      return fail(fault);
    }
    const auto all = commands();
    const Parsed parsed = parse(argc, argv, all, groups());
    const int code = parsed.command ? parsed.command->run(parsed.arguments) : parsed.exit_code;
    return finish_output(code);
  } catch (const std::exception& error) {  // a library of the system, or no memory
    complain(error.what());
    return kExitFailed;
  }
}
