// Branches that their owner takes back while they are being extended, and the FLOPs allowance.

#include <string>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::ToyOptions;

const ToyOptions kLong{.depth = 200, .alphabet = "ab", .end_logit = -100};

// Two branches until the shorter one ends, then the longer is taken back and a third one runs.
struct Race {
  ExtendResult taken;
  ExtendResult third;
  uint64_t tick = 0;
  uint64_t tokens_left = 0;
  uint64_t rows_after = 0;
};

Race race(Engine& engine) {
  Race seen;
  auto query = engine.new_query({.token_allowance = 100});
  const WorkId longer = query->submit(item_of(branch_of(engine, "q:"), {{0}}, 50, warm(), 3));
  const WorkId shorter = query->submit(item_of(branch_of(engine, "q:"), {{1}}, 5, warm(), 3));
  const std::vector<WorkId> both = {longer, shorter};
  query->advance(both, Until::any, [&](Finished done) { CHECK(done.id == shorter); });
  auto taken = query->take_back(longer);
  REQUIRE(taken);
  seen.taken = *std::move(taken);
  CHECK_FALSE(query->take_back(longer));
  CHECK_FALSE(query->take_back(shorter));
  const uint64_t rows = query->cost().rows;
  seen.third = extend(*query, item_of(branch_of(engine, "q:"), {{2}}, 20, warm(), 3));
  seen.rows_after = query->cost().rows - rows;
  seen.tick = query->tick();
  seen.tokens_left = query->tokens_left();
  return seen;
}

TEST_CASE("a branch that is taken back ends at the tick where the clock stands") {
  const std::vector<Token> whole =
      decode_alone(kLong, testing::toy_tokens("q:"), {{0}}, 50, warm(), 3);
  for (uint32_t threads : {1u, 2u}) {
    ToyOptions toy = kLong;
    toy.threads = threads;
    auto engine = toy_engine(toy, 64, {.prefix_cache = false});
    Race seen = race(*engine);
    CHECK(seen.taken.end == ExtendEnd::dropped);
    CHECK(seen.taken.tokens == std::vector<Token>(whole.begin(), whole.begin() + 5));
    CHECK(seen.taken.branch.length() == 2 + 5);
    CHECK(seen.third.tokens.size() == 20);
    CHECK(seen.tick == 25);
    CHECK(seen.tokens_left == 100 - 5 - 5 - 20);
    CHECK(seen.rows_after == 1 + 20);  // the third one's alone: two of the prompt, 19 drawn
    CHECK(engine->status().pages_used == 2);
    seen.taken.branch = Branch();
    seen.third.branch = Branch();
    CHECK(engine->status().pages_used == 0);
  }
}

TEST_CASE("what is taken back before it began has no tokens and leaves its pages to others") {
  auto engine = toy_engine(kLong, 64);
  auto query = engine->new_query({.page_quota = 1});
  const WorkId first = query->submit(item_of(branch_of(*engine, "q:"), {{0}}, 20, warm()));
  const WorkId waits = query->submit(item_of(branch_of(*engine, "p:"), {{1}}, 20, warm()));
  CHECK(query->take_back(first)->tokens.empty());
  auto results = run_all(*query, {first, waits});  // what was taken back is done
  CHECK(results.size() == 1);
  CHECK(results.at(waits).tick == 20);
  CHECK_FALSE(query->take_back(77));
}

TEST_CASE("branches behind the page quota start when a running one is taken back") {
  auto engine = toy_engine(kLong, 64);
  auto query = engine->new_query({.page_quota = 2});
  const auto item = [&](uint32_t path, uint32_t tokens) {
    return item_of(branch_of(*engine, "q" + std::to_string(path) + ":"), {{path}}, tokens, warm());
  };
  const WorkId shortest = query->submit(item(0, 4));
  const WorkId runs = query->submit(item(1, 20));
  const WorkId waits = query->submit(item(2, 20));
  const std::vector<WorkId> first = {shortest};
  query->advance(first, Until::all, [](Finished) {});
  CHECK(query->take_back(runs)->tokens.size() == 4);
  auto results = run_all(*query, {waits});
  CHECK(results.at(waits).tick == 24);
}

TEST_CASE("the FLOPs allowance is never passed, however many branches run side by side") {
  auto engine = toy_engine(kLong, 256);
  for (uint32_t n : {1u, 3u, 8u}) {
    const uint64_t row = engine->row_flops(20);
    for (uint64_t allowance : {uint64_t{0}, row - 1, 10 * row, 37 * row + 5}) {
      CAPTURE(n, allowance);
      auto query = engine->new_query({.flops_allowance = allowance});
      const uint64_t aside = std::min(allowance, engine->row_flops(1));
      REQUIRE(query->spend_flops(aside));
      CHECK_FALSE(query->spend_flops(allowance - aside + 1));
      std::vector<WorkId> ids;
      for (uint32_t i = 0; i < n; ++i) {
        ids.push_back(
            query->submit(item_of(branch_of(*engine, "question:"), {{i}}, 100, warm(), 4)));
      }
      uint64_t spent = aside;
      uint64_t dearest = 0;
      for (const auto& [id, done] : run_all(*query, ids)) {
        const auto& result = std::get<ExtendResult>(done.result);
        CHECK(result.end == ExtendEnd::flops);
        for (uint32_t i = 0; i < result.tokens.size(); ++i) {
          spent += engine->row_flops(9 + i + 1);
        }
        dearest = std::max(dearest, engine->row_flops(result.branch.length() + 1));
      }
      CHECK(spent <= allowance);
      CHECK(allowance - spent < dearest);  // nor is anything left that a token could have had
    }
  }
}

TEST_CASE("a branch without a finite logit takes no token from those behind it") {
  ToyOptions toy = kLong;
  toy.nan_after = '!';
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({.token_allowance = 1});
  const WorkId broken = query->submit(item_of(branch_of(*engine, "broken!"), {{0}}, 9, warm()));
  const WorkId behind = query->submit(item_of(branch_of(*engine, "q:"), {{1}}, 9, warm()));
  auto results = run_all(*query, {broken, behind});
  CHECK(std::get<ExtendResult>(results.at(broken).result).end == ExtendEnd::bad_logits);
  CHECK(std::get<ExtendResult>(results.at(behind).result).end == ExtendEnd::allowance);
  CHECK(std::get<ExtendResult>(results.at(behind).result).tokens.size() == 1);
}

}  // namespace
}  // namespace thinkd::engine
