#pragma once
// An engine on the toy model, the built-in strategies and one that uses every verb.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/scheduler/engine.h"
#include "plugins/sdk/strategy.h"
#include "search/registry.h"
#include "search/runs.h"
#include "tests/support/catch.h"
#include "tests/support/toy_model.h"
#include "verifiers/registry.h"

namespace thinkd::testing {

inline ToyOptions toy_options() {
  ToyOptions options;
  options.depth = 12;
  options.alphabet = "abc";
  options.seed = 5;
  options.end_logit = -2;
  return options;
}

// Grows two levels of a tree, judges, prunes, rewinds and asks for random numbers and log-probs.
struct WalkParams {
  uint32_t n = 3;
  bool clock = false;
  static sdk::Fields<WalkParams> fields() {
    return {sdk::integer("n", &WalkParams::n, 1, 16, "branches"),
            sdk::boolean("clock", &WalkParams::clock, "ask for the time")};
  }
};

inline void walk(sdk::Host& host, const sdk::Problem& problem, const WalkParams& params) {
  host.answer_by(sdk::AnswerRule::best_score);
  sdk::ExtendOptions step = problem.sample_options();
  step.max_tokens = 2;
  std::vector<sdk::Branch> level = host.fork(host.open(problem.messages), params.n);
  if (params.clock) {
    host.note(std::to_string(host.now().tick));
  }
  host.extend(level, step);
  const std::vector<double> scores = host.score(level, "");
  const double cut = host.random();
  host.truncate(level.front(), level.front().length() - 1);
  for (size_t i = 0; i < level.size(); ++i) {
    const double surprise = host.logprobs(level[i], "ab", 2).front().logprob;
    if (i + 1 == level.size() && cut < 0.5) {
      host.pruned(level[i]);
      break;
    }
    std::vector<sdk::Branch> leaves = host.fork(level[i], 2);
    step.max_tokens = 4 + static_cast<uint32_t>(i);
    for (sdk::Branch& leaf : host.extend_as_finished(leaves, step)) {
      host.emit(sdk::Candidate{leaf, scores[i] + surprise + host.score(leaf, "")});
    }
  }
}

// Branches race: the first that ends is a candidate and the start of the next lap, the others are
// dropped while they run.
struct RaceParams {
  uint32_t n = 4;
  uint32_t laps = 3;
  static sdk::Fields<RaceParams> fields() {
    return {sdk::integer("n", &RaceParams::n, 2, 16, "branches"),
            sdk::integer("laps", &RaceParams::laps, 1, 16, "races")};
  }
};

inline void race(sdk::Host& host, const sdk::Problem& problem, const RaceParams& params) {
  host.answer_by(sdk::AnswerRule::best_score);
  sdk::Branch leader = host.open(problem.messages);
  for (uint32_t lap = 0; lap < params.laps; ++lap) {
    std::vector<sdk::Branch> runners = host.fork(leader, params.n);
    for (sdk::Branch& first : host.extend_as_finished(runners, problem.sample_options())) {
      leader = std::move(first);
      host.append(leader, " again, ");  // paid for while the others run
      break;
    }
    host.emit(sdk::Candidate{leader, host.score(leader, "")});
  }
}

struct Bench {
  explicit Bench(engine::EngineOptions options = {}, ToyOptions toy = toy_options()) {
    if (options.kv_pool_bytes == 0) {
      options.kv_pool_bytes = 64 << 20;
    }
    auto made = engine::Engine::create(make_toy_model(toy), options);
    REQUIRE(made.ok());
    engine = *std::move(made);
    REQUIRE(registry.add_builtin().ok());
    REQUIRE(registry.add(walk_entry, "test").ok());
    REQUIRE(registry.add(race_entry, "test").ok());
  }

  std::unique_ptr<engine::Engine> engine;
  verifiers::Verifiers verifiers;
  sdk::StrategyInfo walk_info = sdk::strategy<WalkParams>("walk", "every verb", "this test", walk);
  thinkd_strategy walk_entry = sdk::entry(walk_info);
  sdk::StrategyInfo race_info =
      sdk::strategy<RaceParams>("race", "drops what runs", "this test", race);
  thinkd_strategy race_entry = sdk::entry(race_info);
  search::Registry registry;
};

inline search::Request request_of(const std::string& strategy, uint64_t seed = 7) {
  search::Request request;
  request.messages = search::as_messages("say ab.", "");
  auto spec = search::parse_strategy(strategy);
  REQUIRE(spec.ok());
  request.strategy = *spec;
  request.seed = seed;
  return request;
}

// All that two runs with one seed share.
inline std::string stable(const search::Answer& answer) {
  OrderedJson out = search::to_json(answer);
  out.erase("run_id");
  for (const char* name :
       {"seconds_wall", "seconds_waiting", "seconds_computing", "kv_byte_seconds", "joules",
        "cached_tokens", "prefill_saved_tokens", "rebuilt_tokens"}) {
    out["ledger"].erase(name);
  }
  return out.dump();
}

}  // namespace thinkd::testing
