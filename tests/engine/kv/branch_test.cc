#include "engine/kv/branch.h"

#include <random>
#include <string>

#include "engine/kv/block_pool.h"
#include "tests/support/catch.h"

namespace thinkd::engine {
namespace {

std::vector<Token> range(Token first, uint32_t count) {
  std::vector<Token> tokens(count);
  for (uint32_t i = 0; i < count; ++i) {
    tokens[i] = first + i;
  }
  return tokens;
}

std::vector<Token> all(const Branch& branch) { return branch.tokens(0, branch.length()); }

TEST_CASE("a fork shares its history and does not see what the other does") {
  BlockPool pool(64, 4, {});
  Branch parent(&pool);
  parent.append(range(0, 40));
  Branch child = parent;
  CHECK(child.tail().get() == parent.tail().get());
  child.append(range(100, 3));
  parent.append(range(200, 30));
  CHECK(child.length() == 43);
  CHECK(child.tokens(38, 5) == std::vector<Token>{38, 39, 100, 101, 102});
  CHECK(parent.tokens(38, 4) == std::vector<Token>{38, 39, 200, 201});
  CHECK(child.recipe_hash() != parent.recipe_hash());
}

TEST_CASE("recipe hashes name the text, not the way it came about") {
  BlockPool pool(64, 4, {});
  Branch one(&pool);
  one.append(range(0, 70));
  Branch other(&pool);
  other.append(range(0, 33));
  Branch fork = other;
  fork.append(range(500, 50));
  REQUIRE(fork.truncate(33).ok());
  fork.append(range(33, 37));
  CHECK(fork.recipe_hash() == one.recipe_hash());
}

TEST_CASE("truncate and splice refuse what is not there, naming both numbers") {
  BlockPool pool(64, 4, {});
  Branch branch(&pool);
  branch.append(range(0, 10));
  CHECK(branch.truncate(11).message() == "truncate to 11 tokens: the branch has 10");
  Branch source(&pool);
  source.append(range(0, 5));
  CHECK(branch.splice(source, 3, 3).message() == "splice of tokens [3, 6): the source has 5");
  CHECK(branch.splice(source, 3, UINT32_MAX).code() == Code::invalid);
  CHECK(branch.length() == 10);
}

TEST_CASE("a splice at the start of an empty branch is a fork, and exact") {
  BlockPool pool(64, 4, {});
  Branch source(&pool);
  source.append(range(0, 50));
  Branch branch(&pool);
  REQUIRE(branch.splice(source, 0, 40).ok());
  CHECK(branch.exact());
  CHECK(all(branch) == range(0, 40));
}

TEST_CASE("adjacent splices of one run with one shift are one segment") {
  BlockPool pool(64, 4, {});
  Branch source(&pool);
  source.append(range(0, 100));
  Branch once(&pool);
  once.append(range(900, 7));
  Branch twice = once;
  REQUIRE(once.splice(source, 20, 60).ok());
  REQUIRE(twice.splice(source, 20, 25).ok());
  REQUIRE(twice.splice(source, 45, 35).ok());
  CHECK(once.segments().size() == 2);
  CHECK(twice.segments().size() == 2);
  CHECK(twice.segments()[1].shift == 7 - 20);
  CHECK(once.recipe_hash() == twice.recipe_hash());
  CHECK(!once.exact());
}

TEST_CASE("a branch cut back behind its splice is exact again and goes on in its own run") {
  BlockPool pool(64, 4, {});
  Branch source(&pool);
  source.append(range(300, 50));
  Branch branch(&pool);
  branch.append(range(0, 45));
  const Sha256Digest before = branch.recipe_hash();
  REQUIRE(branch.splice(source, 5, 10).ok());
  branch.append(range(400, 3));
  REQUIRE(branch.truncate(45).ok());
  CHECK(branch.exact());
  CHECK(branch.recipe_hash() == before);
  branch.append(range(45, 3));
  CHECK(all(branch) == range(0, 48));
}

// Oracle: the same operations on plain vectors.
TEST_CASE("random appends, forks, truncations and splices keep the text of plain vectors") {
  const uint32_t seed = 4711;
  INFO("seed=" << seed);
  std::mt19937 random(seed);
  BlockPool pool(64, 4, {});
  for (int round = 0; round < 200; ++round) {
    std::vector<Branch> branches(1, Branch(&pool));
    std::vector<std::vector<Token>> texts(1);
    for (int op = 0; op < 60; ++op) {
      const size_t at = random() % branches.size();
      Branch& branch = branches[at];
      std::vector<Token>& text = texts[at];
      switch (random() % 5) {
        case 0:
        case 1: {
          const std::vector<Token> more = range(random() % 1000, random() % 70);
          branch.append(more);
          text.insert(text.end(), more.begin(), more.end());
          break;
        }
        case 2:
          branches.push_back(Branch(branches[at]));
          texts.push_back(std::vector<Token>(texts[at]));
          break;
        case 3: {
          const auto length = static_cast<uint32_t>(random() % (text.size() + 1));
          REQUIRE(branch.truncate(length).ok());
          text.resize(length);
          break;
        }
        case 4: {
          const size_t from = random() % branches.size();
          const std::vector<Token> source = texts[from];
          const auto first = static_cast<uint32_t>(random() % (source.size() + 1));
          const auto count = static_cast<uint32_t>(random() % (source.size() - first + 1));
          const Branch reads = branches[from];
          if (text.size() + count < 600) {
            REQUIRE(branch.splice(reads, first, count).ok());
            text.insert(text.end(), source.begin() + first, source.begin() + first + count);
          }
          break;
        }
      }
      REQUIRE(all(branches[at]) == texts[at]);
    }
    for (size_t i = 0; i < branches.size(); ++i) {
      REQUIRE(all(branches[i]) == texts[i]);
      uint32_t sum = 0;
      for (const Segment& segment : branches[i].segments()) {
        sum += segment.length;
      }
      REQUIRE(sum == branches[i].length());
    }
  }
}

}  // namespace
}  // namespace thinkd::engine
