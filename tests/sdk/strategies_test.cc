// The built-in strategies, driven by a script. The oracle is the script itself.

#include "search/strategies/strategies.h"
#include "tests/sdk/fake_host.h"
#include "tests/support/catch.h"

using namespace thinkd::sdk;
using thinkd::search::builtin_strategies;

namespace {

thinkd_strategy named(const std::string& name) {
  for (const StrategyInfo& info : builtin_strategies()) {
    if (info.name == name) {
      return entry(info);
    }
  }
  FAIL("no strategy " << name);
  return {};
}

RunRequest asking(std::vector<Param> params = {}) {
  RunRequest request;
  request.messages = {{"user", "What is 2 + 2?"}};
  request.params = std::move(params);
  return request;
}

Param n_of(int64_t n) { return {.name = "n", .kind = ParamKind::integer, .integer = n}; }

Scripted scripted(const std::string& path) {
  if (path == "0.0") {
    return {.text = "four", .tokens = 9, .score = 0.2};
  }
  if (path == "0.1") {
    return {.text = "five", .tokens = 3, .score = 0.9, .end = End::max_tokens};
  }
  return {.text = "four", .tokens = 3, .score = 0.5};
}

}  // namespace

TEST_CASE("the built-in strategies are listed in order, with schemas") {
  std::vector<std::string> names;
  for (const StrategyInfo& info : builtin_strategies()) {
    names.push_back(info.name);
    CHECK_FALSE(info.description.empty());
    CHECK_FALSE(info.source.empty());
  }
  CHECK(names ==
        std::vector<std::string>{"greedy", "sample", "self_consistency", "best_of_n", "beam"});
  CHECK_THAT(named("best_of_n").params_schema,
             Contains(R"("final":{"type":"string","enum":["best","weighted_vote"])"));
}

TEST_CASE("greedy extends the root at temperature 0") {
  FakeHost host;
  RunRequest request = asking();
  request.sampling.temperature = 0.7f;
  request.sampling.max_tokens = 5;
  CHECK(host.run(named("greedy"), request) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0"});
  REQUIRE(host.extends.size() == 1);
  CHECK(host.extends[0].sampling.temperature == 0.0f);
  CHECK(host.extends[0].sampling.top_p == 1.0f);
  CHECK(host.extends[0].max_tokens == 5);
}

TEST_CASE("sample draws what the first of n samples draws") {
  FakeHost one;
  CHECK(one.run(named("sample"), asking()) == THINKD_OK);
  CHECK(one.candidates() == std::vector<std::string>{"0.0"});
  FakeHost many;
  CHECK(many.run(named("self_consistency"), asking({n_of(4)})) == THINKD_OK);
  REQUIRE(many.extends.size() == 4);
  for (const Extend& extend : many.extends) {
    CHECK(extend.sampling.temperature == 0.8f);
    CHECK(extend.sampling.top_p == 0.95f);
    CHECK(extend.max_tokens == 1024);
    CHECK(extend.stops.empty());
  }
  CHECK(one.extends[0].sampling.temperature == many.extends[0].sampling.temperature);
}

TEST_CASE("what the user says about sampling holds") {
  FakeHost host;
  RunRequest request = asking({n_of(2)});
  request.sampling = {.temperature = 1.5f,
                      .top_k = 7,
                      .top_p = 0.5f,
                      .min_p = 0.1f,
                      .repetition_penalty = 1.1f,
                      .max_tokens = 3,
                      .stops = {"##"}};
  CHECK(host.run(named("best_of_n"), request) == THINKD_OK);
  REQUIRE(host.extends.size() == 2);
  const Extend& extend = host.extends[1];
  CHECK(extend.sampling.temperature == 1.5f);
  CHECK(extend.sampling.top_k == 7);
  CHECK(extend.sampling.top_p == 0.5f);
  CHECK(extend.sampling.min_p == 0.1f);
  CHECK(extend.sampling.repetition_penalty == 1.1f);
  CHECK(extend.max_tokens == 3);
  CHECK(extend.stops == std::vector<std::string>{"##"});
}

TEST_CASE("self_consistency votes, and emits as branches finish") {
  FakeHost host;
  host.script = scripted;
  CHECK(host.run(named("self_consistency"), asking({n_of(4)})) == THINKD_OK);
  // ticks 3, 3, 3, 9: at one tick in path order; a sample cut by its length is a candidate too
  CHECK(host.candidates() == std::vector<std::string>{"0.1", "0.2", "0.3", "0.0"});
  REQUIRE(host.emitted.size() == 5);
  CHECK(host.emitted[0].emit.event == Event::answer_by);
  CHECK(host.emitted[0].emit.rule == AnswerRule::vote);
  CHECK(host.emitted[1].tick == 3);
  CHECK(host.emitted[4].tick == 9);
}

TEST_CASE("best_of_n scores each sample as it finishes") {
  FakeHost host;
  host.script = scripted;
  std::vector<Param> params = {n_of(3)};
  AnswerRule rule = AnswerRule::best_score;
  std::string scorer;
  SECTION("by default") {}
  SECTION("with a scorer and a vote") {
    params.push_back({.name = "scorer", .kind = ParamKind::text, .text = "toy:depth=2"});
    params.push_back({.name = "final", .kind = ParamKind::text, .text = "weighted_vote"});
    rule = AnswerRule::weighted_vote;
    scorer = "toy:depth=2";
  }
  CHECK(host.run(named("best_of_n"), asking(params)) == THINKD_OK);
  CHECK(host.candidates() == std::vector<std::string>{"0.1", "0.2", "0.0"});
  REQUIRE(host.emitted.size() == 4);
  CHECK(host.emitted[0].emit.rule == rule);
  CHECK(host.emitted[1].emit.score == 0.9);
  CHECK(host.emitted[2].emit.score == 0.5);
  CHECK(host.emitted[3].emit.score == 0.2);
  CHECK(host.verifiers == std::vector<std::string>(3, scorer));
  CHECK(host.live() == 0);
}

TEST_CASE("stopped at any call, a strategy unwinds and keeps what it emitted") {
  for (const StrategyInfo& info : builtin_strategies()) {
    FakeHost whole;
    whole.script = scripted;
    REQUIRE(whole.run(entry(info), asking()) == THINKD_OK);
    const std::vector<std::string> all = whole.candidates();
    for (size_t stop = 0; stop < whole.calls; ++stop) {
      FakeHost host;
      host.script = scripted;
      host.stop_at = stop;
      INFO(info.name << " stopped at call " << stop);
      CHECK(host.run(entry(info), asking()) == THINKD_STOPPED);
      CHECK(host.live() == 0);
      const std::vector<std::string> some = host.candidates();
      REQUIRE(some.size() <= all.size());
      CHECK(std::equal(some.begin(), some.end(), all.begin()));
    }
  }
}

TEST_CASE("bad parameters are refused before any verb") {
  FakeHost host;
  CHECK(host.run(named("best_of_n"), asking({n_of(0)})) == THINKD_INVALID);
  CHECK(host.failure == "best_of_n: parameter n is 0; it must be an integer from 1 to 4096");
  CHECK(host.run(named("greedy"), asking({n_of(1)})) == THINKD_INVALID);
  CHECK(host.failure == "greedy has no parameter \"n\"; it has none");
  CHECK(host.calls == 0);

  const thinkd_strategy strategy = named("self_consistency");
  const auto say = [](void* context, const char* text, size_t size) {
    static_cast<std::string*>(context)->assign(text, size);
  };
  std::string said;
  Bytes bytes = encode(asking({n_of(5000)}));
  CHECK(strategy.check(strategy.self, bytes.data(), bytes.size(), say, &said) == THINKD_INVALID);
  CHECK(said == "self_consistency: parameter n is 5000; it must be an integer from 1 to 4096");
  bytes = encode(asking({n_of(5)}));
  CHECK(strategy.check(strategy.self, bytes.data(), bytes.size(), say, &said) == THINKD_OK);
}
