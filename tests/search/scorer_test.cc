// Scores read from states: what the verb gives is the head on what the hidden verb gives; equal
// whatever else runs, replayed, and resumed from every prefix of the log.

#include "base/file.h"
#include "tests/search/host_run.h"
#include "tests/support/scorer_file.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

namespace {

struct ScoredBench : Bench {
  explicit ScoredBench(engine::EngineOptions options = {}) : Bench(options) {
    const ScratchFolder folder;
    const std::string path = folder.path("m.scorer.gguf");
    const uint32_t width = engine->model().runner->shape().width;
    const std::string& model = engine->model().info.sha256;
    const std::string file = scorer_file(random_scorer(width, 4, 11, 1e-5f), model).bytes();
    REQUIRE(write_file(path, file).ok());
    auto opened = verifiers::StateScorer::open(path, model, width);
    REQUIRE(opened.ok());
    verifiers.attach(*std::move(opened));
  }
};

struct NoParams {
  static sdk::Fields<NoParams> fields() { return {}; }
};

const verifiers::StateScorer* expected_by = nullptr;

// Each sample's score beside the head on its last state.
void compare(sdk::Host& host, const sdk::Problem& problem, const NoParams&) {
  std::vector<sdk::Branch> samples = host.fork(host.open(problem.messages), 5);
  host.extend(samples, problem.sample_options());
  const std::vector<double> scores = host.score(samples, "step_scorer");
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::vector<float> state = host.hidden(samples[i], sdk::kLast);
    host.note(scores[i] == expected_by->score(state) ? "equal" : "different");
    host.emit(sdk::Candidate{samples[i], scores[i]});
  }
}

}  // namespace

TEST_CASE("a branch's score is the head on its last state") {
  ScoredBench bench;
  expected_by = bench.verifiers.attached();
  const sdk::StrategyInfo info =
      sdk::strategy<NoParams>("compare", "scores and states", "this test", compare);
  const thinkd_strategy entry = sdk::entry(info);
  REQUIRE(bench.registry.add(entry, "test").ok());
  const HostRun run = run_host(bench, request_of("compare"));
  REQUIRE(run.outcome.status.ok());
  size_t equal = 0;
  for (const Event& event : run.events) {
    equal += event.kind == EventKind::note && event.note == "equal" ? 1 : 0;
  }
  CHECK(equal == 5);
  CHECK(run.outcome.answer.ledger.verifier_calls == 5);
}

TEST_CASE("best_of_n takes the sample that the model's own scorer ranks first") {
  ScoredBench bench;
  const HostRun run = run_host(bench, request_of("best_of_n:n=6"));
  REQUIRE(run.outcome.status.ok());
  const Answer& answer = run.outcome.answer;
  REQUIRE(answer.candidates.size() == 6);
  const auto best =
      std::max_element(answer.candidates.begin(), answer.candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return *a.score < *b.score; });
  CHECK(answer.answer == best->answer);
  const HostRun named = run_host(bench, request_of("best_of_n:n=6,scorer=step_scorer"));
  for (size_t i = 0; i < 6; ++i) {
    CHECK(named.outcome.answer.candidates[i].score == answer.candidates[i].score);
    CHECK((*answer.candidates[i].score > 0 && *answer.candidates[i].score < 1));
  }
}

TEST_CASE("scores from states: replayed, and resumed from every prefix of the log") {
  const std::string strategy = GENERATE(as<std::string>(), "best_of_n:n=4", "walk:n=3", "race:n=4");
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  ScoredBench bench(cold);
  const Request request = request_of(strategy);
  const HostRun whole = run_host(bench, request);
  REQUIRE(whole.outcome.status.ok());
  HostOptions options;
  options.log = whole.log;
  options.mode = Journal::Mode::replay;
  CHECK_FALSE(run_host(bench, request, options).difference);
  options.mode = Journal::Mode::record;
  for (size_t size = 0; size <= whole.log.size(); ++size) {
    options.log.assign(whole.log.begin(), whole.log.begin() + static_cast<ptrdiff_t>(size));
    const HostRun resumed = run_host(bench, request, options);
    INFO(strategy << " resumed from " << size << " of " << whole.log.size() << " entries");
    REQUIRE(resumed.outcome.status.ok());
    CHECK(stable(resumed.outcome.answer) == stable(whole.outcome.answer));
    CHECK(resumed.log == whole.log);
  }
}

TEST_CASE("a score from a state needs a branch, and a model that has a scorer") {
  ScoredBench bench;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  Request request = request_of("best_of_n");
  request.verifier = "step_scorer";
  CHECK_THAT(runs.solve(request).status().message(), Contains("'step_scorer' is a scorer"));
  Bench without;
  Runs others(*without.engine, without.verifiers, without.registry, nullptr, {});
  CHECK_THAT(
      others.solve(request_of("best_of_n:scorer=step_scorer")).status().message(),
      Contains("best_of_n: parameter scorer: 'step_scorer' needs a model with a .scorer.gguf"));
}
