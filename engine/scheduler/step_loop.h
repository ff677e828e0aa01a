#pragma once
// The step loop: one thread that forms every step from the runnable work of all queries, takes it
// through the model in one pass over the weights, draws tokens where a query's tick is complete,
// and settles.
//
//   take()    new work of queries that advance; stops; queries that close
//   plan      rows: higher priority first, queries that decode before those that prefill, then who
//   came
//             first. The order stays while a query waits, so the first one always gets its pages
//             and queries that do not fit beside each other take turns instead of evicting one
//             another.
//   run       one pass over the weights
//   settle    states to log-probs, ticks: draws, ends, quotas, allowances, in the order of paths
//   deliver   finished work to the owners' mailboxes; queries whose wait is over pause
//
// Everything below the lock line of query_state.h belongs to this thread.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/kv/block_pool.h"
#include "engine/scheduler/engine.h"
#include "engine/scheduler/query_state.h"
#include "engine/scheduler/step_plan.h"

namespace thinkd::engine {

class StepLoop {
 public:
  StepLoop(std::unique_ptr<LanguageModel> model, const EngineOptions& options, uint32_t context,
           uint64_t pages, const BlockHash& root);
  ~StepLoop();  // every query must be closed

  const LanguageModel& model() const { return *model_; }
  uint32_t context() const { return context_; }
  BlockPool& pool() { return pool_; }

  // For queries, any thread.
  std::mutex& lock() { return lock_; }
  void add(std::shared_ptr<QueryState> query);
  void wake() { wake_.notify_all(); }  // with the lock held
  void settle();
  EngineStatus status();

  uint64_t row_flops(uint64_t context) const {
    const ModelShape& shape = model_->runner->shape();
    return 2 * shape.weights_per_row + shape.attention_flops_per_key * context;
  }

 private:
  using Queries = std::vector<std::shared_ptr<QueryState>>;

  void loop();
  bool idle() const;                            // lock held
  void take();                                  // lock held
  void deliver(double seconds, uint32_t rows);  // lock held
  void close(QueryState& query);                // lock held

  void step();
  std::vector<QueryState*> in_order();
  void plan_query(QueryState& query, StepPlan& plan, bool& ready);
  void choose_runnable(QueryState& query);
  void choose_paid(QueryState& query) const;
  Status check(const Branch& branch, const QueryState& query);
  void refuse(QueryState& query, uint64_t pages);

  // step_settle.cc: what a step's states become.
  struct Drawing;
  void settle_statics(const std::vector<QueryState*>& queries, const StepPlan& plan);
  void finish_statics(QueryState& query);
  void tick(const std::vector<QueryState*>& ready);
  void draw(std::vector<Drawing>& drawings);
  void settle_tick(QueryState& query, std::vector<Drawing>& drawings);
  void tile_logits(std::span<const float* const> states);
  void fail_static(QueryState& query, StaticWork& work, Status status);
  void end_all(QueryState& query);
  void end_finished(QueryState& query, size_t index, ExtendEnd end);
  void start_work(QueryState& query);

  std::unique_ptr<LanguageModel> model_;
  const EngineOptions options_;
  const uint32_t context_;
  BlockPool pool_;

  std::mutex lock_;
  std::condition_variable wake_;
  std::condition_variable settled_;
  Queries queries_;      // lock
  uint64_t rounds_ = 0;  // lock: passes of the loop, for settle()
  uint64_t rounds_wanted_ = 0;
  bool ending_ = false;  // lock
  uint64_t steps_ = 0;   // lock for writing and for other threads
  uint64_t rows_ = 0;

  uint64_t turns_ = 0;  // engine thread, as what follows
  uint64_t plans_ = 0;  // numbers the steps that were planned, also those without rows
  Queries active_;      // engine thread: the queries that advance in this round
  std::vector<float> logits_;
  std::thread thread_;  // last: starts when everything stands
};

}  // namespace thinkd::engine
