#include "engine/kv/block_pool.h"

#include <numeric>
#include <thread>

#include "engine/kv/branch.h"
#include "tests/support/catch.h"

namespace thinkd::engine {
namespace {

std::vector<Token> tokens(Token first, uint32_t count) {
  std::vector<Token> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// A block of its own with all rows computed, as a step leaves it.
BlockRef computed(BlockPool& pool, Token first, uint64_t step) {
  Branch branch(&pool);
  branch.append(tokens(first, kBlockTokens));
  BlockRef block = branch.tail();
  REQUIRE(pool.give_page(*block, step));
  block->computed = block->stored = kBlockTokens;
  block->page[0] = static_cast<uint8_t>(first);
  pool.publish(*block);
  return block;
}

TEST_CASE("pages of dropped branches stay in the cache and serve an equal block") {
  BlockPool pool(64, 2, {});
  computed(pool, 7, 1);
  pool.reclaim();
  CHECK(pool.stats().used == 0);
  CHECK(pool.stats().cached == 1);
  Branch again(&pool);
  again.append(tokens(7, kBlockTokens));
  CHECK(pool.adopt(*again.tail(), 2));
  CHECK(again.tail()->page[0] == 7);
  CHECK(again.tail()->computed == kBlockTokens);
  Branch other(&pool);
  other.append(tokens(8, kBlockTokens));
  CHECK(!pool.adopt(*other.tail(), 2));
}

TEST_CASE(
    "idle pages go before live ones, the least recently used first, those of the step never") {
  BlockPool pool(64, 3, {});
  const BlockRef live = computed(pool, 1, 1);
  computed(pool, 2, 2);
  pool.reclaim();
  computed(pool, 3, 3);
  pool.reclaim();
  CHECK(pool.available(4) == 3);
  const BlockRef fresh = computed(pool, 4, 4);  // takes the page of 2
  Branch two(&pool);
  two.append(tokens(2, kBlockTokens));
  Branch three(&pool);
  three.append(tokens(3, kBlockTokens));
  CHECK(!pool.adopt(*two.tail(), 4));
  CHECK(pool.adopt(*three.tail(), 4));
  CHECK(pool.give_page(*two.tail(), 4));  // takes the live page that step 4 does not read
  CHECK(live->page == nullptr);
  CHECK(live->computed == 0);
  Branch none(&pool);
  none.append(tokens(5, 1));
  CHECK(!pool.give_page(*none.tail(), 4));
  CHECK(pool.available(4) == 0);
}

TEST_CASE("hash chains start at the root and bind the parents") {
  BlockHash root{};
  root[0] = 1;
  BlockPool pool(64, 8, {});
  BlockPool other(64, 8, root);
  const auto last_hash = [](BlockPool& in, Token first) {
    Branch branch(&in);
    branch.append(tokens(first, kBlockTokens));
    branch.append(tokens(500, kBlockTokens));
    return in.hash(*branch.tail());
  };
  CHECK(last_hash(pool, 1) == last_hash(pool, 1));
  CHECK(last_hash(pool, 1) != last_hash(pool, 2));
  CHECK(last_hash(pool, 1) != last_hash(other, 1));
}

TEST_CASE("a long chain is freed without recursion, from any thread") {
  BlockPool pool(64, 1, {});
  std::vector<Branch> branches(1, Branch(&pool));
  branches[0].append(tokens(0, 200'000));
  for (int i = 0; i < 8; ++i) {
    branches.push_back(Branch(branches[0]));
  }
  std::vector<std::thread> threads;
  for (Branch& branch : branches) {
    threads.emplace_back([&branch] { branch = Branch(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(pool.reclaim_pending());
  pool.reclaim();
  CHECK(!pool.reclaim_pending());
}

}  // namespace
}  // namespace thinkd::engine
