// What is refused depends on a query's own work, never on what other queries left in the pool.

#include <string>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::ToyOptions;

const ToyOptions kLong{.depth = 2000, .alphabet = "ab", .end_logit = -100};

Branch branch_of_length(Engine& engine, uint32_t tokens, char salt) {
  return branch_of(engine, std::string(tokens - 1, salt) + ":");
}

// Another query's work that takes every page of the pool.
void flood(Engine& engine) {
  auto query = engine.new_query({});
  Branch branch = branch_of_length(engine, engine.pages_total() * kBlockTokens - 4, 'f');
  extend(*query, item_of(std::move(branch), {{9}}, 2));
}

// Six pages of a source, of which a branch of three pages reads two: nine with all that it takes to
// compute these again.
Finished graft(Engine& engine, bool flooded) {
  auto query = engine.new_query({});
  Branch source = branch_of_length(engine, 6 * kBlockTokens - 20, 's');
  source = extend(*query, item_of(std::move(source), {{0}}, 10, warm())).branch;
  Branch branch = branch_of_length(engine, 3 * kBlockTokens, 'q');
  REQUIRE(branch.splice(source, 4 * kBlockTokens, 40).ok());
  REQUIRE(branch.truncate(branch.length() - 1).ok());
  if (flooded) {
    flood(engine);
  }
  const WorkId id = query->submit(item_of(std::move(branch), {{1}}, 5, warm()));
  auto results = run_all(*query, {id});
  Finished done = std::move(results.at(id));
  std::get<ExtendResult>(done.result).branch = Branch();
  return done;
}

TEST_CASE("an extend whose last state does not fit in the quota comes home with its tokens") {
  auto engine = toy_engine(kLong, 16);
  auto query = engine->new_query({.page_quota = 2});
  ExtendItem item = item_of(branch_of_length(*engine, 2 * kBlockTokens - 1, 'q'), {{0}}, 2, warm());
  item.hidden_at_stop = true;
  const WorkId id = query->submit(std::move(item));
  auto results = run_all(*query, {id});
  const Finished& done = results.at(id);
  CHECK(done.status.code() == Code::limit);
  REQUIRE(std::holds_alternative<ExtendResult>(done.result));
  const auto& result = std::get<ExtendResult>(done.result);
  CHECK(result.tokens.size() == 2);
  CHECK(result.branch.length() == 2 * kBlockTokens + 1);
}

TEST_CASE("a spliced branch is refused or served alike, whatever was evicted") {
  for (uint32_t pages : {8u, 10u}) {
    CAPTURE(pages);
    auto engine = toy_engine(kLong, pages);
    const Finished alone = graft(*engine, false);
    const Finished crowded = graft(*engine, true);
    CHECK(alone.status.message() == crowded.status.message());
    CHECK(std::get<ExtendResult>(alone.result).tokens ==
          std::get<ExtendResult>(crowded.result).tokens);
    if (pages == 8) {
      CHECK(alone.status.code() == Code::limit);
      CHECK_THAT(alone.status.message(), Contains("a branch of 9 pages"));
    } else {
      CHECK(alone.status.ok());
    }
  }
}

TEST_CASE("a page that was only copied from leaves room for a branch of the whole pool") {
  auto engine = toy_engine(kLong, 5, {.prefix_cache = false});
  auto query = engine->new_query({});
  Branch source = branch_of_length(*engine, 40, 's');
  source = extend(*query, item_of(std::move(source), {{0}}, 2, warm())).branch;
  flood(*engine);
  Branch first = branch_of_length(*engine, 40, 'q');
  first = extend(*query, item_of(std::move(first), {{1}}, 2, warm())).branch;
  Branch fork = first;
  fork.append(testing::toy_tokens("x"));  // copies the half block
  REQUIRE(fork.splice(source, 0, 40).ok());
  fork.append(testing::toy_tokens(":"));
  const WorkId id = query->submit(item_of(std::move(fork), {{2}}, 3, warm()));
  auto results = run_all(*query, {id});
  CHECK(results.at(id).status.message().empty());
  CHECK(std::get<ExtendResult>(results.at(id).result).tokens.size() == 3);
}

}  // namespace
}  // namespace thinkd::engine
