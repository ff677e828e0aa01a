// The logical clock: any and all, quotas, allowances, stops, and work a journal knows already.

#include <thread>
#include <tuple>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::ToyOptions;

// Branches of one root, extended together; their ends in the order they are told.
struct Told {
  std::vector<std::string> order;  // "tick path end tokens"
  std::map<std::string, std::vector<Token>> tokens;
};

Told run_forks(Engine& engine, const QueryOptions& options, uint32_t n, uint32_t max_tokens) {
  auto query = engine.new_query(options);
  const Branch root = branch_of(engine, "what is it? The answer is:");
  std::vector<WorkId> ids;
  std::map<WorkId, std::string> names;
  for (uint32_t i = 0; i < n; ++i) {
    const BranchPath path{{0, i}};
    ids.push_back(query->submit(item_of(root, path, max_tokens, warm(), 11)));
    names[ids.back()] = to_string(path);
  }
  Told told;
  query->advance(ids, Until::all, [&](Finished done) {
    const auto& result = std::get<ExtendResult>(done.result);
    told.order.push_back(std::to_string(done.tick) + " " + names[done.id] + " " +
                         std::string(to_string(result.end)) + " " +
                         std::to_string(result.tokens.size()));
    told.tokens[names[done.id]] = result.tokens;
  });
  return told;
}

TEST_CASE(
    "a token allowance is spent in the order of ticks and paths, whatever the quota's pages") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  const Told told = run_forks(*engine, {.token_allowance = 10}, 4, 50);
  // 4 + 4 + 2: the first two branches have three tokens, the others two.
  CHECK(told.order == std::vector<std::string>{"3 0.2 allowance 2", "3 0.3 allowance 2",
                                               "4 0.0 allowance 3", "4 0.1 allowance 3"});
}

TEST_CASE("branches beyond the page quota start in path order as pages free") {
  const ToyOptions toy{.depth = 30, .alphabet = "ab", .end_logit = -2};
  auto roomy = toy_engine(toy, 256);
  const Told all = run_forks(*roomy, {}, 6, 60);
  const Told tight = run_forks(*roomy, {.page_quota = 4}, 6, 60);
  CHECK(all.tokens == tight.tokens);  // when, not what
  CHECK(all.order != tight.order);
  auto small = toy_engine(toy, 4);
  const Told evicting = run_forks(*small, {.page_quota = 4}, 6, 60);
  CHECK(evicting.order == tight.order);  // the quota decides, not the pool
  CHECK(evicting.tokens == all.tokens);
}

TEST_CASE("any comes back at the tick of the first end; the rest goes on later from there") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  const WorkId longer = query->submit(item_of(branch_of(*engine, "q:"), {{0}}, 20, warm()));
  const WorkId shorter = query->submit(item_of(branch_of(*engine, "q:"), {{1}}, 5, warm()));
  std::vector<WorkId> told;
  const auto tell = [&](Finished done) { told.push_back(done.id); };
  const std::vector<WorkId> both = {longer, shorter};
  query->advance(both, Until::any, tell);
  CHECK(told == std::vector<WorkId>{shorter});
  CHECK(query->tick() == 5);
  query->advance(both, Until::any, tell);  // one of them is done: nothing runs
  CHECK(query->tick() == 5);
  const WorkId third = query->submit(item_of(branch_of(*engine, "q:"), {{2}}, 5, warm()));
  const std::vector<WorkId> rest = {longer, third};
  query->advance(rest, Until::any, tell);
  CHECK(told == std::vector<WorkId>{shorter, third});
  CHECK(query->tick() == 10);
  query->advance(rest, Until::all, tell);
  CHECK(told == std::vector<WorkId>{shorter, third, longer});
  CHECK(query->tick() == 20);
}

TEST_CASE("any over log-probs tells the same in steps of any size") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab"};
  std::vector<std::vector<WorkId>> told;
  for (uint32_t step_rows : {4u, 512u}) {
    auto engine = toy_engine(toy, 64, {.step_rows = step_rows});
    auto query = engine->new_query({});
    const Branch branch = branch_of(*engine, "q:");
    std::vector<WorkId> ids;
    for (int i = 0; i < 3; ++i) {
      ids.push_back(query->submit(LogprobsItem{branch, testing::toy_tokens("abbabaab"), 0}));
    }
    told.emplace_back();
    query->advance(ids, Until::any, [&](Finished done) { told.back().push_back(done.id); });
    CHECK(query->tick() == 0);
  }
  CHECK(told[0] == told[1]);
  CHECK(told[0].size() == 3);
}

TEST_CASE("a row that two ask for in one step is one row") {
  auto engine = toy_engine({}, 64);
  auto query = engine->new_query({});
  const Branch branch = branch_of(*engine, "question:");
  const std::vector<WorkId> ids = {query->submit(HiddenItem{branch, 3}),
                                   query->submit(HiddenItem{branch, 3})};
  auto results = run_all(*query, ids);
  CHECK(query->cost().rows == 4);
  CHECK(std::get<HiddenResult>(results.at(ids[0]).result).hidden ==
        std::get<HiddenResult>(results.at(ids[1]).result).hidden);
}

TEST_CASE("stop_at ends everything at its tick, and later work at once") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({.stop_at = 7});
  const ExtendResult cut = extend(*query, item_of(branch_of(*engine, "q:"), {{0}}, 20, warm()));
  CHECK(cut.end == ExtendEnd::stopped);
  CHECK(cut.tokens.size() == 7);
  CHECK(query->stopped());
  const ExtendResult later = extend(*query, item_of(branch_of(*engine, "q:"), {{1}}, 20, warm()));
  CHECK(later.end == ExtendEnd::stopped);
  CHECK(later.tokens.empty());
}

TEST_CASE("a stop from another thread comes home within a step and frees every page") {
  const ToyOptions toy{.depth = 4000, .alphabet = "ab", .context = 4096, .end_logit = -100};
  auto engine = toy_engine(toy, 2048, {.prefix_cache = false});
  auto query = engine->new_query({});
  std::thread stopper([&] {
    // After the first steps, known by the engine's own counter.
    while (engine->status().steps < 3) {
    }
    query->stop();
  });
  {
    const ExtendResult cut = extend(*query, item_of(branch_of(*engine, "q:"), {{0}}, 4000, warm()));
    stopper.join();
    CHECK((cut.end == ExtendEnd::stopped || cut.tokens.size() == 4000));
  }
  query.reset();
  CHECK(engine->status().pages_used == 0);
}

TEST_CASE("recorded branches keep the clock, the allowance and the bytes of the first run") {
  const ToyOptions toy{.depth = 30, .alphabet = "ab", .end_logit = -2};
  auto engine = toy_engine(toy, 256, {.prefix_cache = false});
  for (uint64_t allowance : {UINT64_MAX, uint64_t{40}}) {
    const QueryOptions options{.page_quota = 5, .token_allowance = allowance};
    const auto run = [&](const std::map<uint32_t, ExtendItem::Recorded>& recorded) {
      auto query = engine->new_query(options);
      const Branch root = branch_of(*engine, "what is it? The answer is:");
      std::vector<WorkId> ids;
      for (uint32_t i = 0; i < 6; ++i) {
        ExtendItem item = item_of(root, {{0, i}}, 60, warm(), 11);
        if (recorded.count(i)) {
          item.recorded = recorded.at(i);
        }
        ids.push_back(query->submit(std::move(item)));
      }
      std::vector<std::tuple<uint64_t, WorkId, std::vector<Token>, std::vector<double>, ExtendEnd>>
          told;
      query->advance(ids, Until::all, [&](Finished done) {
        const auto& result = std::get<ExtendResult>(done.result);
        told.emplace_back(done.tick, done.id, result.tokens, result.logprobs, result.end);
      });
      return std::pair(told, query->cost().rows);
    };
    const auto [first, first_rows] = run({});
    // Every subset that a crash could leave: the first k to finish.
    for (size_t known = 0; known <= first.size(); ++known) {
      std::map<uint32_t, ExtendItem::Recorded> recorded;
      for (size_t i = 0; i < known; ++i) {
        const auto& [tick, id, tokens, logprobs, end] = first[i];
        recorded[static_cast<uint32_t>(id) - 1] = {tokens, logprobs, end};
      }
      const auto [again, rows] = run(recorded);
      CHECK(again == first);
      CHECK((known == 0 ? rows == first_rows : rows <= first_rows));
      if (known == first.size()) {
        CHECK(rows == 0);  // nothing is computed that was known
      }
    }
  }
}

}  // namespace
}  // namespace thinkd::engine
