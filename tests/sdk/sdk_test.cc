// The C++ SDK over a fake host: handles, finishing order, unwinding, exceptions at the edge.

#include <stdexcept>

#include "plugins/sdk/strategy.h"
#include "tests/sdk/fake_host.h"
#include "tests/support/catch.h"

using namespace thinkd::sdk;

namespace {

struct NoParams {
  static Fields<NoParams> fields() { return {}; }
};

StrategyInfo named(void (*function)(Host&, const Problem&, const NoParams&)) {
  return strategy<NoParams>("test", "a test", "none", function);
}

void steps(Host& host, const Problem& problem, const NoParams&) {
  host.answer_by(AnswerRule::best_score);
  std::vector<Branch> particles = host.fork(host.open(problem.messages), 3);
  while (!all_finished(particles)) {
    host.extend(open_ones(particles), {.stop = {"\n\n"}, .max_tokens = 8});
    const std::vector<size_t> parents = {0, 0, host.random() < 0.6 ? 2u : 1u};
    particles = host.fork(particles, parents);
  }
  host.score(particles, "");
  for (const Branch& particle : particles) {
    host.emit(Candidate{particle, 1.0});
  }
}

void throws(Host& host, const Problem& problem, const NoParams&) {
  std::vector<Branch> samples = host.fork(host.open(problem.messages), 2);
  throw std::runtime_error("the author erred");
}

void throws_int(Host& host, const Problem& problem, const NoParams&) {
  Branch branch = host.open(problem.messages);
  throw 7;
}

void holds_on(Host& host, const Problem& problem, const NoParams&) {
  Branch branch = host.open(problem.messages);
  try {
    host.extend(branch, {});
    host.extend(branch, {});
  } catch (const std::exception&) {
    host.note("never reached by a stop");
  }
}

void first_only(Host& host, const Problem& problem, const NoParams&) {
  std::vector<Branch> samples = host.fork(host.open(problem.messages), 3);
  for (Branch& sample : host.extend_as_finished(samples, {})) {
    host.emit(Candidate{sample});
    break;
  }
  CHECK(std::count_if(samples.begin(), samples.end(), [](const Branch& b) { return bool(b); }) ==
        1);
  host.random();
}

void drops_others(Host& host, const Problem& problem, const NoParams&) {
  std::vector<Branch> samples = host.fork(host.open(problem.messages), 3);
  for (Branch& sample : host.extend_as_finished(samples, {})) {
    host.emit(Candidate{sample});
    host.pruned(samples[1]);
  }
}

void recovers(Host& host, const Problem& problem, const NoParams&) {
  Branch branch = host.open(problem.messages);
  try {
    static_cast<void>(host.hidden(branch, kLast));
  } catch (const Failed& failed) {
    CHECK(failed.status() == THINKD_UNAVAILABLE);
    host.note(failed.what());
  }
}

}  // namespace

TEST_CASE("branches are dropped when they go, whatever ends the run") {
  const StrategyInfo info = named(steps);
  const auto script = [](const std::string& path) {
    // a fork of a fork ends its text, so that the loop takes two rounds
    return Scripted{.tokens = static_cast<uint32_t>(path.size()),
                    .end = path.size() > 3 ? End::end_token : End::stop_text};
  };
  FakeHost whole;
  whole.script = script;
  REQUIRE(whole.run(entry(info), {}) == THINKD_OK);
  CHECK(whole.live() == 0);
  CHECK(whole.candidates().size() == 3);
  REQUIRE(whole.calls > 20);
  for (size_t stop = 0; stop < whole.calls; ++stop) {
    FakeHost host;
    host.script = script;
    host.stop_at = stop;
    INFO("stopped at call " << stop);
    CHECK(host.run(entry(info), {}) == THINKD_STOPPED);
    CHECK(host.live() == 0);
    CHECK(host.failure.empty());
  }
}

TEST_CASE("what a strategy throws becomes a status and a text") {
  FakeHost host;
  SECTION("an exception of the standard library") {
    CHECK(host.run(entry(named(throws)), {}) == THINKD_FAILED);
    CHECK(host.failure == "test: the author erred");
  }
  SECTION("anything") {
    CHECK(host.run(entry(named(throws_int)), {}) == THINKD_FAILED);
    CHECK(host.failure == "test: an exception of unknown type");
  }
  SECTION("a verb that fails") {
    host.fail_at = 3;  // the fork, after the rule, the open and its wait
    CHECK(host.run(entry(named(steps)), {}) == THINKD_LIMIT);
    CHECK(host.failure == "9 of 8 pages");
  }
  SECTION("a request that is no record") {
    const StrategyInfo info = named(steps);
    const thinkd_strategy strategy = entry(info);
    const thinkd_host table = host.table();
    const uint8_t bytes[3] = {1, 2, 3};
    CHECK(strategy.run(strategy.self, &table, bytes, 3) == THINKD_INVALID);
    CHECK_THAT(host.failure, Contains("needs 4 bytes; 3 are left"));
  }
  CHECK(host.live() == 0);
}

TEST_CASE("a stop passes handlers of exceptions by") {
  const StrategyInfo info = named(holds_on);
  for (size_t stop = 0; stop < 6; ++stop) {
    FakeHost host;
    host.stop_at = stop;
    CHECK(host.run(entry(info), {}) == THINKD_STOPPED);
    CHECK(host.emitted.empty());
    CHECK(host.live() == 0);
  }
}

TEST_CASE("leaving the finishing order early drops what still runs") {
  FakeHost host;
  host.script = [](const std::string& path) { return Scripted{.tokens = path == "0.2" ? 1u : 9u}; };
  CHECK(host.run(entry(named(first_only)), {}) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0.2"});
  CHECK(host.tick == 1);
  CHECK(host.live() == 0);
}

TEST_CASE("a branch dropped while it runs is not handed out") {
  FakeHost host;
  host.script = [](const std::string& path) {
    return Scripted{.tokens = path == "0.1" ? 5u : path == "0.0" ? 2u : 3u};
  };
  CHECK(host.run(entry(named(drops_others)), {}) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0.0", "0.2"});
}

TEST_CASE("a strategy may go on without what a backend lacks") {
  FakeHost host;
  CHECK(host.run(entry(named(recovers)), {}) == THINKD_OK);
  REQUIRE(host.emitted.size() == 1);
  CHECK(host.emitted[0].emit.text == "the fake host has no such verb");
}
