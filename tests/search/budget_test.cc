// The flops budget is never passed, and a broken model is told apart from a short text.

#include "tests/search/host_run.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

TEST_CASE("the flops budget is never passed, however many branches run side by side") {
  Bench bench;
  const std::string strategy =
      GENERATE(as<std::string>(), "greedy", "best_of_n:n=16", "walk:n=4", "race:n=6");
  Request request = request_of(strategy);
  const Ledger whole = run_host(bench, request).outcome.answer.ledger;
  for (uint64_t tenth = 0; tenth <= 10; ++tenth) {
    const uint64_t most = whole.flops * tenth / 10;
    CAPTURE(strategy, most);
    request.budget.flops = most;
    const HostRun run = run_host(bench, request);
    REQUIRE(run.outcome.status.ok());
    CHECK(run.outcome.answer.ledger.flops <= most);
    CHECK(run.outcome.answer.stopped_by == (tenth == 10 ? "done" : "flops"));
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

TEST_CASE("a prompt that the flops budget does not pay for is not billed") {
  Bench bench;
  Request request = request_of("greedy");
  request.budget.flops = 1;
  const Answer answer = run_host(bench, request).outcome.answer;
  CHECK(answer.stopped_by == "flops");
  CHECK(answer.ledger.flops == 0);
  CHECK(answer.ledger.prompt_tokens == 0);
  CHECK(answer.candidates.empty());
}

TEST_CASE("a model that gives no finite logit fails the run and says where") {
  ToyOptions toy = toy_options();
  toy.nan_after = '\n';  // the prompt's last token
  Bench bench({}, toy);
  const HostRun run = run_host(bench, request_of("greedy"));
  CHECK_FALSE(run.outcome.status.ok());
  CHECK_THAT(run.outcome.status.message(), Contains("the model gives no finite logit after"));
  CHECK_THAT(run.outcome.status.message(), Contains("of branch 0"));
}

TEST_CASE("a model that breaks in the middle of a text ends the text there") {
  ToyOptions toy = toy_options();
  toy.nan_after = 'b';
  Bench bench({}, toy);
  const HostRun run = run_host(bench, request_of("best_of_n:n=8"));
  REQUIRE(run.outcome.status.ok());
  size_t broken = 0;
  for (const Candidate& candidate : run.outcome.answer.candidates) {
    const size_t at = candidate.text.find('b');
    broken += at != std::string::npos ? 1 : 0;
    CHECK((at == std::string::npos || at + 1 == candidate.text.size()));
  }
  CHECK(broken > 0);
}
