// Scores of steps as one: closed forms, and best_of_n step by step against best_of_n whole. A step
// of the toy model ends at the letter "a".

#include <map>

#include "plugins/sdk/steps.h"
#include "tests/search/host_run.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

namespace {

std::map<std::string, std::vector<double>> scores_of(const std::vector<Event>& events) {
  std::map<std::string, std::vector<double>> scores;
  for (const Event& event : events) {
    if (event.kind == EventKind::scored) {
      scores[event.branch].push_back(*event.score);
    }
  }
  return scores;
}

std::map<std::string, Candidate> by_branch(const Answer& answer) {
  std::map<std::string, Candidate> out;
  for (const Candidate& candidate : answer.candidates) {
    out[candidate.branch] = candidate;
  }
  return out;
}

}  // namespace

TEST_CASE("step scores: the aggregates in closed form") {
  sdk::StepScores scores;
  for (const double score : {0.5, 0.25, 0.75}) {
    scores.add(score);
  }
  CHECK(scores.as(sdk::Aggregate::last) == 0.75);
  CHECK(scores.as(sdk::Aggregate::min) == 0.25);
  CHECK(scores.as(sdk::Aggregate::prod) == 0.09375);
  CHECK(scores.as(sdk::Aggregate::mean) == 0.5);
}

TEST_CASE("best_of_n step by step draws the same samples and scores their steps") {
  const std::string aggregate = GENERATE(as<std::string>(), "min", "prod", "mean");
  Bench bench;
  const HostRun whole = run_host(bench, request_of("best_of_n:n=8"));
  const HostRun steps = run_host(bench, request_of("best_of_n:n=8,step=a,aggregate=" + aggregate));
  REQUIRE(steps.outcome.status.ok());
  const auto expected = by_branch(whole.outcome.answer);
  const auto found = by_branch(steps.outcome.answer);
  const auto scores = scores_of(steps.events);
  REQUIRE(found.size() == 8);
  size_t calls = 0;
  for (const auto& [branch, candidate] : found) {
    INFO(aggregate << " of branch " << branch);
    CHECK(candidate.text == expected.at(branch).text);
    const std::vector<double>& each = scores.at(branch);
    // The text's own score, of the whole of it, is that of the last step.
    CHECK(each.back() == Approx(*expected.at(branch).score));
    const auto as =
        static_cast<size_t>(std::count(candidate.text.begin(), candidate.text.end(), 'a'));
    CHECK((each.size() == as || each.size() == as + 1));
    double sum = 0;
    double product = 1;
    for (const double score : each) {
      sum += score;
      product *= score;
    }
    const double wanted = aggregate == "min"    ? *std::min_element(each.begin(), each.end())
                          : aggregate == "prod" ? product
                                                : sum / static_cast<double>(each.size());
    CHECK(*candidate.score == Approx(wanted));
    calls += each.size();
  }
  CHECK(calls > 8);
  CHECK(steps.outcome.answer.ledger.verifier_calls == calls);
  CHECK(steps.outcome.answer.ledger.generated_tokens ==
        whole.outcome.answer.ledger.generated_tokens);
}

TEST_CASE("best_of_n step by step: a limit on tokens and stop texts end samples as they do whole") {
  const std::string stop = GENERATE(as<std::string>(), "cb", "a", "ba");
  Bench bench;
  Request whole = request_of("best_of_n:n=8");
  Request steps = request_of("best_of_n:n=8,step=a,aggregate=min");
  for (Request* request : {&whole, &steps}) {
    request->sampling.max_tokens = 5;
    request->sampling.stop = {stop};
  }
  const auto expected = by_branch(run_host(bench, whole).outcome.answer);
  const auto found = by_branch(run_host(bench, steps).outcome.answer);
  REQUIRE(found.size() == 8);
  for (const auto& [branch, candidate] : found) {
    INFO("stop " << stop << ", branch " << branch);
    CHECK(candidate.text == expected.at(branch).text);
    CHECK(candidate.tokens == expected.at(branch).tokens);
  }
}

TEST_CASE("best_of_n step by step: resumed from every prefix of the log") {
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  Bench bench(cold);
  const Request request = request_of("best_of_n:n=3,step=a,aggregate=mean");
  const HostRun whole = run_host(bench, request);
  REQUIRE(whole.outcome.status.ok());
  for (size_t size = 0; size <= whole.log.size(); ++size) {
    HostOptions options;
    options.log.assign(whole.log.begin(), whole.log.begin() + static_cast<ptrdiff_t>(size));
    const HostRun resumed = run_host(bench, request, options);
    INFO("resumed from " << size << " of " << whole.log.size() << " entries");
    REQUIRE(resumed.outcome.status.ok());
    CHECK(stable(resumed.outcome.answer) == stable(whole.outcome.answer));
    CHECK(resumed.log == whole.log);
  }
}

TEST_CASE("steps end where the model's context is full") {
  const std::string strategy = GENERATE(as<std::string>(), "best_of_n:n=4,step=a,aggregate=mean",
                                        "best_of_n:n=4", "beam:n=6,width=2,step=a");
  ToyOptions toy = toy_options();
  toy.depth = 1000;
  toy.end_logit = -100;
  toy.context = 64;
  Bench bench({}, toy);
  const HostRun run = run_host(bench, request_of(strategy));
  INFO(strategy);
  REQUIRE(run.outcome.status.ok());
  const Answer& answer = run.outcome.answer;
  CHECK(answer.stopped_by == "done");
  REQUIRE_FALSE(answer.candidates.empty());
  for (const Candidate& candidate : answer.candidates) {
    CHECK(answer.ledger.prompt_tokens + candidate.tokens == toy.context);
  }
}
