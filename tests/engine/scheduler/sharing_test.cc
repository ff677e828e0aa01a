// Many queries at once: the bytes of each are those it has alone, in far fewer steps.

#include <atomic>
#include <thread>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::ToyOptions;

using Texts = std::vector<std::vector<Token>>;

// A small search: forks, a second round on the first half, a score.
Texts search(Engine& engine, uint64_t seed, const QueryOptions& options) {
  auto query = engine.new_query(options);
  const Branch root = branch_of(
      engine, "a shared beginning of some length, and then: " + std::to_string(seed % 3) + ":");
  std::vector<WorkId> ids;
  for (uint32_t i = 0; i < 5; ++i) {
    ids.push_back(query->submit(item_of(root, {{0, i}}, 25, warm(), seed)));
  }
  Texts texts;
  std::vector<Branch> kept;
  auto results = run_all(*query, ids);
  for (WorkId id : ids) {
    auto& result = std::get<ExtendResult>(results.at(id).result);
    texts.push_back(result.tokens);
    kept.push_back(std::move(result.branch));
  }
  ids.clear();
  for (uint32_t i = 0; i < 3; ++i) {
    Branch branch = kept[i];
    (void)branch.truncate(branch.length() - std::min<uint32_t>(branch.length() - 1, 7));
    ids.push_back(query->submit(item_of(std::move(branch), {{0, i, 0}}, 25, warm(), seed)));
  }
  results = run_all(*query, ids);
  for (WorkId id : ids) {
    texts.push_back(std::get<ExtendResult>(results.at(id).result).tokens);
  }
  return texts;
}

TEST_CASE(
    "queries at once have the bytes they have alone: pools, steps, threads and caches aside") {
  ToyOptions toy{.depth = 40, .alphabet = "ab", .end_logit = -4};
  constexpr uint32_t kQueries = 16;
  std::vector<Texts> alone;
  for (uint32_t i = 0; i < kQueries; ++i) {
    auto engine = toy_engine(toy, 512);
    alone.push_back(search(*engine, i, {.page_quota = 12}));
  }
  struct Setting {
    uint64_t pages;
    EngineOptions options;
    uint32_t threads;
  };
  const std::vector<Setting> settings = {
      {512, {}, 1},
      {512, {.step_rows = 16}, 2},
      {512, {.prefix_cache = false}, 1},
      {14, {}, 2},
      {14, {.step_rows = 7, .prefix_cache = false}, 1},
  };
  for (const Setting& setting : settings) {
    toy.threads = setting.threads;
    auto engine = toy_engine(toy, setting.pages, setting.options);
    std::vector<Texts> together(kQueries);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < kQueries; ++i) {
      threads.emplace_back([&, i] {
        together[i] = search(*engine, i, {.page_quota = 12, .priority = int32_t(i % 2)});
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    CHECK(together == alone);
    CHECK(engine->status().pages_used == 0);
  }
}

TEST_CASE("a step holds rows of all queries, and a query's prompt is computed once") {
  const ToyOptions toy{.depth = 200, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 512);
  auto query = engine->new_query({});
  const Branch root = branch_of(*engine, std::string(64, 'x') + "q:");
  std::vector<WorkId> ids;
  for (uint32_t i = 0; i < 32; ++i) {
    ids.push_back(query->submit(item_of(root, {{0, i}}, 50, warm())));
  }
  run_all(*query, ids);
  const EngineStatus status = engine->status();
  // The prompt in one step with its tip run once for all 32, then 49 steps of 32 rows.
  CHECK(status.steps == 50);
  CHECK(status.rows == 66 + 49 * 32);
  CHECK(query->cost().rows == status.rows);
  auto second = engine->new_query({});
  const WorkId id = second->submit(item_of(root, {{0}}, 1, warm()));
  run_all(*second, {id});
  CHECK(engine->status().rows == status.rows);  // the tip's state was kept: not one row
  auto third = engine->new_query({});
  const WorkId cached =
      third->submit(item_of(branch_of(*engine, std::string(64, 'x') + "r:"), {{0}}, 1, warm()));
  run_all(*third, {cached});
  CHECK(third->cost().cached_tokens == 64);
  CHECK(third->cost().rows == 2);
}

}  // namespace
}  // namespace thinkd::engine
