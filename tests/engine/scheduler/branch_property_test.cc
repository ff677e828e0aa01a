// Branches forked, extended, cut, spliced, evicted, rebuilt and dropped in any order give the
// tokens that decoding each text alone gives, and every page comes back.

#include <random>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::ToyOptions;

struct Held {
  Branch branch;
  std::vector<Token> text;  // the plain vector it is held against
};

void property(uint64_t pages, bool splices, uint32_t seed) {
  INFO("seed=" << seed << " pages=" << pages << " splices=" << splices);
  const ToyOptions toy{.depth = 1000, .alphabet = "abcd", .end_logit = -6};
  auto engine = toy_engine(toy, pages, {.step_rows = 48});
  auto query = engine->new_query({});
  std::mt19937 random(seed);
  std::vector<Held> held(1);
  held[0].text = testing::toy_tokens("start:");
  held[0].branch = branch_of(*engine, "start:");
  uint32_t next_root = 0;
  for (int op = 0; op < 120; ++op) {
    const size_t at = random() % held.size();
    for (const Held& each : held) {
      REQUIRE(each.branch.tokens(0, each.branch.length()) == each.text);
    }
    switch (random() % 7) {
      case 0:
        held.push_back(Held(held[at]));
        break;
      case 1: {
        const auto length = static_cast<uint32_t>(1 + random() % held[at].text.size());
        REQUIRE(held[at].branch.truncate(length).ok());
        held[at].text.resize(length);
        break;
      }
      case 2: {
        const std::vector<Token> more = testing::toy_tokens(std::string(random() % 40, 'z') + ":");
        if (held[at].text.size() + more.size() < 32 * 5) {
          held[at].branch.append(more);
          held[at].text.insert(held[at].text.end(), more.begin(), more.end());
        }
        break;
      }
      case 3:
        if (held.size() > 1) {
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
        }
        break;
      case 4:
        if (splices) {
          const Held source = held[random() % held.size()];
          const auto first = static_cast<uint32_t>(random() % source.text.size());
          const auto count = static_cast<uint32_t>(1 + random() % (source.text.size() - first));
          if (held[at].text.size() + count < 32 * 5) {
            REQUIRE(held[at].branch.splice(source.branch, first, count).ok());
            held[at].text.insert(held[at].text.end(), source.text.begin() + first,
                                 source.text.begin() + first + count);
          }
        }
        break;
      default: {
        // Some branches at once, each decoded alone for comparison.
        std::vector<WorkId> ids;
        std::vector<size_t> which;
        for (size_t i = 0; i < held.size() && ids.size() < 3; ++i) {
          if (random() % 2 == 0 && held[i].text.size() < 32 * 5) {
            if (!held[i].branch.tail()) {
              // What ends in a splice goes on from the source's state: a token of its own comes
              // first.
              held[i].branch.append(testing::toy_tokens(":"));
              held[i].text.push_back(':');
            }
            const BranchPath path{{next_root++}};
            ids.push_back(query->submit(
                item_of(std::move(held[i].branch), path, 1 + random() % 20, warm(), seed)));
            which.push_back(i);
          }
        }
        auto results = run_all(*query, ids);
        for (size_t i = 0; i < ids.size(); ++i) {
          REQUIRE(results.at(ids[i]).status.ok());
          auto& result = std::get<ExtendResult>(results.at(ids[i]).result);
          const BranchPath path{{next_root - static_cast<uint32_t>(ids.size() - i)}};
          REQUIRE(result.tokens == decode_alone(toy, held[which[i]].text, path,
                                                static_cast<uint32_t>(result.tokens.size()), warm(),
                                                seed));
          Held& back = held[which[i]];
          back.branch = std::move(result.branch);
          back.text.insert(back.text.end(), result.tokens.begin(), result.tokens.end());
          REQUIRE(back.branch.tokens(0, back.branch.length()) == back.text);
        }
      }
    }
  }
  held.clear();
  query.reset();
  const EngineStatus status = engine->status();
  CHECK(status.pages_used == 0);
  CHECK(status.pages_cached <= status.pages_total);
}

TEST_CASE("exact branches in a roomy pool and in one that must evict all the time") {
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    property(400, false, seed);
    property(18, false, seed);
  }
}

// The toy model's rows do not depend on what is before them, so its splices are exact: a spliced
// branch must go on as the same text decoded alone, and its shifted positions must be right.
TEST_CASE("spliced branches too") {
  for (uint32_t seed = 101; seed <= 108; ++seed) {
    property(400, true, seed);
    property(40, true, seed);
  }
}

}  // namespace
}  // namespace thinkd::engine
