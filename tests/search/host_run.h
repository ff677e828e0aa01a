#pragma once
// One run through a verb host without Runs: its outcome, its events and the log it wrote.

#include <optional>
#include <string>
#include <vector>

#include "search/verb_host.h"
#include "tests/search/fixture.h"
#include "tests/support/catch.h"

namespace thinkd::testing {

using namespace thinkd::search;

struct HostRun {
  Outcome outcome;
  std::vector<std::string> log;
  std::vector<Event> events;
  std::optional<JournalDifference> difference;
};

struct HostOptions {
  std::vector<std::string> log;
  Journal::Mode mode = Journal::Mode::record;
  std::optional<uint64_t> cancel_at_event;
};

inline HostRun run_host(Bench& bench, const Request& request, const HostOptions& options = {}) {
  HostRun run;
  std::vector<Entry> entries;
  for (const std::string& bytes : options.log) {
    entries.push_back(*decode_entry(bytes));
  }
  run.log = options.log;
  VerbHost* stoppable = nullptr;
  const auto params = bench.registry.check(request.strategy);
  REQUIRE(params.ok());
  auto host =
      VerbHost::create(HostSetup{*bench.engine, bench.verifiers, request, *params,
                                 bench.engine->pages_total(), std::chrono::steady_clock::now(),
                                 [&](const Event& event) {
                                   run.events.push_back(event);
                                   if (options.cancel_at_event == event.index) {
                                     stoppable->request_stop(StopReason::cancelled);
                                   }
                                 }},
                       Journal(memory_sink(&run.log), std::move(entries), options.mode));
  REQUIRE(host.ok());
  stoppable = host->get();
  run.outcome = (*host)->run(**bench.registry.find(request.strategy.name));
  run.difference = (*host)->journal().difference();
  CHECK((*host)->live_branches() == 0);
  return run;
}

}  // namespace thinkd::testing
