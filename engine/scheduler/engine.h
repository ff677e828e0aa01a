#pragma once
// The engine: one model, one step loop, many queries. A thread of its own forms every step from the
// runnable work of all queries (decode rows, prefill chunks, rows of verifiers) and takes it
// through the model in one pass over the weights.
//
// Owner: whoever made it; it outlives every Query and Branch made from it. Threads: every method
// may be called from any thread.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/model/language_model.h"
#include "engine/scheduler/query.h"

namespace thinkd::engine {

struct EngineOptions {
  uint64_t kv_pool_bytes = 0;  // 0: a quarter of the machine's memory, at most 4 GiB
  uint32_t step_rows = 512;    // rows a step takes at most
  uint32_t context = 0;        // 0: the model's
  bool prefix_cache = true;
  std::string tenant;  // part of every block hash
};

struct EngineStatus {
  uint64_t steps = 0;
  uint64_t rows = 0;
  uint64_t pages_used = 0;    // held by live branches
  uint64_t pages_cached = 0;  // evictable
  uint64_t pages_total = 0;
  uint64_t evictions = 0;
};

class StepLoop;

class Engine {
 public:
  // The limit error names both numbers where the pool holds not even one block.
  static Result<std::unique_ptr<Engine>> create(std::unique_ptr<LanguageModel> model,
                                                const EngineOptions& options);
  explicit Engine(std::unique_ptr<StepLoop> loop);  // by create()
  ~Engine();

  const LanguageModel& model() const;
  uint32_t context() const;  // positions a branch may have
  uint32_t pages_total() const;

  Branch new_branch();  // empty
  std::unique_ptr<Query> new_query(const QueryOptions& options);

  EngineStatus status()
      const;  // waits for the step at hand: dropped branches' pages are counted free

  // FLOPs of one row that attends to `context` rows, as the ledger counts them.
  uint64_t row_flops(uint32_t context) const;

 private:
  friend class Query;
  std::unique_ptr<StepLoop> loop_;
};

}  // namespace thinkd::engine
