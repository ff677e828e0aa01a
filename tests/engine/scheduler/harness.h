#pragma once
// An engine on the toy model, and queries driven to their end.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/scheduler/engine.h"
#include "tests/support/catch.h"
#include "tests/support/toy_model.h"

namespace thinkd::engine {

inline std::unique_ptr<Engine> toy_engine(const testing::ToyOptions& toy, uint64_t pages,
                                          EngineOptions options = {}) {
  auto model = testing::make_toy_model(toy);
  options.kv_pool_bytes = pages * model->runner->shape().page_bytes;
  auto engine = Engine::create(std::move(model), options);
  REQUIRE(engine.ok());
  return std::move(*engine);
}

inline Branch branch_of(Engine& engine, std::string_view text) {
  Branch branch = engine.new_branch();
  branch.append(testing::toy_tokens(text));
  return branch;
}

inline ExtendItem item_of(Branch branch, BranchPath path, uint32_t max_tokens,
                          Sampling sampling = {}, uint64_t seed = 1) {
  ExtendItem item;
  item.branch = std::move(branch);
  item.key = draw_key(seed, "test", to_string(path), 0);
  item.path = std::move(path);
  item.max_tokens = max_tokens;
  item.sampling = sampling;
  return item;
}

// Everything that finishes until all of `ids` are done.
inline std::map<WorkId, Finished> run_all(Query& query, const std::vector<WorkId>& ids) {
  std::map<WorkId, Finished> results;
  query.advance(ids, Until::all, [&](Finished done) {
    const WorkId id = done.id;
    results.emplace(id, std::move(done));
  });
  return results;
}

inline ExtendResult extend(Query& query, ExtendItem item) {
  const WorkId id = query.submit(std::move(item));
  auto results = run_all(query, {id});
  REQUIRE(results.count(id) == 1);
  return std::move(std::get<ExtendResult>(results.at(id).result));
}

// The text that decoding alone gives: a fresh engine, one branch, nothing cached.
inline std::vector<Token> decode_alone(const testing::ToyOptions& toy,
                                       const std::vector<Token>& prompt, const BranchPath& path,
                                       uint32_t max_tokens, const Sampling& sampling,
                                       uint64_t seed) {
  auto engine = toy_engine(toy, 256);
  auto query = engine->new_query({});
  Branch branch = engine->new_branch();
  branch.append(prompt);
  return extend(*query, item_of(std::move(branch), path, max_tokens, sampling, seed)).tokens;
}

inline Sampling warm() {
  Sampling sampling;
  sampling.temperature = 1;
  return sampling;
}

}  // namespace thinkd::engine
