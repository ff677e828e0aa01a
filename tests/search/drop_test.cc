// Branches that are dropped while they run: they end at that tick, in live, resumed and replayed
// runs.

#include <map>

#include "tests/search/host_run.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

TEST_CASE("a branch dropped while it runs is billed for what it drew until then") {
  Bench bench;
  const HostRun run = run_host(bench, request_of("race:n=5,laps=1"));
  REQUIRE(run.outcome.status.ok());
  const Answer& answer = run.outcome.answer;
  REQUIRE(answer.candidates.size() == 1);
  const uint64_t winner = answer.candidates.front().tokens;
  uint64_t dropped = 0;
  uint64_t pruned = 0;
  uint64_t drawn = 0;
  for (const Event& event : run.events) {
    pruned += event.kind == EventKind::pruned ? 1 : 0;
    if (event.kind == EventKind::extended) {
      CHECK(event.tokens == winner);  // a token a tick, until the first one ended
      drawn += event.tokens;
      dropped += event.note == "dropped" ? 1 : 0;
    }
  }
  CHECK(dropped == 4);
  CHECK(pruned == 4);
  CHECK(drawn == 5 * winner);
  CHECK(answer.ledger.generated_tokens == 5 * winner);
  CHECK(answer.ledger.discarded_tokens == 4 * winner);
  CHECK(answer.ledger.longest_branch_tokens == winner);

  // Left to run to their ends, the same branches draw more.
  const HostRun all = run_host(bench, request_of("best_of_n:n=5"));
  CHECK(all.outcome.answer.ledger.generated_tokens > answer.ledger.generated_tokens);
}

TEST_CASE("dropped branches: one answer and one bill, whatever the steps, threads and pages") {
  const Request request = request_of("race:n=6");
  Bench bench;
  const std::string whole = stable(run_host(bench, request).outcome.answer);
  for (uint32_t threads : {1u, 2u}) {
    ToyOptions toy = toy_options();
    toy.threads = threads;
    for (uint32_t rows : {3u, 512u}) {
      engine::EngineOptions options;
      options.step_rows = rows;
      options.prefix_cache = false;
      Bench other(options, toy);
      CHECK(stable(run_host(other, request).outcome.answer) == whole);
    }
  }
}

TEST_CASE("dropped branches: resumed at each entry and replayed, with budgets and without") {
  Bench bench;
  Request request = request_of("race:n=4");
  for (std::optional<uint64_t> tokens : {std::optional<uint64_t>(), {uint64_t{23}}}) {
    request.budget.tokens = tokens;
    const HostRun run = run_host(bench, request);
    REQUIRE(run.outcome.status.ok());
    const HostRun replayed = run_host(bench, request, {run.log, Journal::Mode::replay, {}});
    CHECK_FALSE(replayed.difference.has_value());
    CHECK(stable(replayed.outcome.answer) == stable(run.outcome.answer));
    for (size_t known = 0; known <= run.log.size(); ++known) {
      const std::vector<std::string> log(run.log.begin(),
                                         run.log.begin() + static_cast<std::ptrdiff_t>(known));
      const HostRun resumed = run_host(bench, request, {log, Journal::Mode::record, {}});
      CHECK(stable(resumed.outcome.answer) == stable(run.outcome.answer));
      CHECK(resumed.log == run.log);
    }
  }
}

TEST_CASE("dropped branches: cancelled at every event, the trace replays") {
  Bench bench;
  const Request request = request_of("race:n=4,laps=2");
  const size_t events = run_host(bench, request).events.size();
  for (uint64_t at = 0; at < events; ++at) {
    CAPTURE(at);
    const HostRun run = run_host(bench, request, {{}, Journal::Mode::record, at});
    REQUIRE(run.outcome.status.ok());
    const HostRun replayed = run_host(bench, request, {run.log, Journal::Mode::replay, {}});
    CHECK_FALSE(replayed.difference.has_value());
    CHECK(stable(replayed.outcome.answer) == stable(run.outcome.answer));
  }
}
