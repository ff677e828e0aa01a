// Splices on a real transformer, whose rows do depend on what is before them: a spliced branch that
// lost its pages must come back bit for bit, with its shifted segments and the lineage of each.

#include <string>
#include <vector>

#include "tests/engine/scheduler/harness.h"
#include "tests/support/scratch.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::engine {
namespace {

struct Seen {
  std::vector<Token> tokens;
  std::vector<float> hidden;
  std::vector<double> logprobs;
  bool operator==(const Seen&) const = default;
};

std::vector<Token> letters(uint32_t count, uint32_t salt) {
  std::vector<Token> tokens;
  for (uint32_t i = 0; i < count; ++i) {
    tokens.push_back((i * 7 + i * i * 3 + salt) % 200);
  }
  return tokens;
}

// Takes all pages but the few that a pool of `pages` has more than it needs.
void flood(Engine& engine, uint32_t pages) {
  auto query = engine.new_query({});
  Branch branch = engine.new_branch();
  branch.append(letters(pages * kBlockTokens - 8, 99));
  extend(*query, item_of(std::move(branch), {{9}}, 2));
}

std::vector<Seen> scenario(Engine& engine, uint32_t flooded) {
  std::vector<Seen> seen;
  auto query = engine.new_query({});
  const auto decode = [&](const Branch& branch, uint32_t path) {
    if (flooded > 0) {
      flood(engine, flooded);
    }
    ExtendItem item = item_of(branch, {{path}}, 20, warm(), 5);
    item.hidden_at_stop = true;
    ExtendResult result = extend(*query, std::move(item));
    seen.push_back({result.tokens, result.hidden, result.logprobs});
    return result.branch;
  };
  Branch source = engine.new_branch();
  source.append(letters(70, 1));
  source = decode(source, 0);
  Branch branch = engine.new_branch();
  branch.append(letters(45, 2));
  REQUIRE(branch.splice(source, 20, 40).ok());  // shift 25
  branch.append(letters(3, 3));
  branch = decode(branch, 1);
  Branch deeper = engine.new_branch();
  deeper.append(letters(10, 4));
  REQUIRE(deeper.splice(branch, 30, 60).ok());  // of its own run and of the splice
  deeper.append(letters(2, 5));
  deeper = decode(deeper, 2);
  REQUIRE(branch.truncate(45).ok());
  CHECK(branch.exact());
  branch = decode(branch, 3);
  return seen;
}

TEST_CASE("spliced branches come back bit for bit, whatever the pool, the steps and the threads") {
  const ScratchFolder folder;
  const std::string path = folder.path() + "/tiny.gguf";
  REQUIRE(testing::write_tiny_llama(path, {}).ok());
  const auto engine_of = [&](uint64_t pages, uint32_t step_rows, uint32_t threads) {
    ModelOptions model_options;
    model_options.threads = threads;
    auto model = load_language_model(path, model_options);
    INFO((model.ok() ? "" : model.status().message()));
    REQUIRE(model.ok());
    EngineOptions options;
    options.kv_pool_bytes = pages * (*model)->runner->shape().page_bytes;
    options.step_rows = step_rows;
    auto engine = Engine::create(*std::move(model), options);
    REQUIRE(engine.ok());
    return *std::move(engine);
  };
  const std::vector<Seen> roomy = scenario(*engine_of(64, 512, 1), 0);
  CHECK(roomy.size() == 4);
  CHECK(roomy[0].tokens != roomy[1].tokens);
  auto tight = engine_of(14, 512, 2);
  CHECK(scenario(*tight, 13) == roomy);
  CHECK(tight->status().evictions > 20);
  CHECK(tight->status().pages_used == 0);
  CHECK(scenario(*engine_of(14, 7, 1), 13) == roomy);
  CHECK(scenario(*engine_of(64, 5, 2), 0) == roomy);
}

}  // namespace
}  // namespace thinkd::engine
