#pragma once
// The rows of one engine step, gathered from what branches need. A row may read rows of the same
// step, since a runner writes all keys of a layer before any row attends: so a branch is ready as
// soon as what it misses fits into the step, in whatever order.
//
// Engine thread only; lives for one step.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/kv/block_pool.h"
#include "engine/kv/branch.h"
#include "engine/runner/model_runner.h"

namespace thinkd::engine {

enum class Need : uint8_t {
  met,      // after this step everything asked for is there
  partly,   // the step is full: the rest in a later one
  no_room,  // the pages do not fit beside those that the step reads already
};

// What planning cost, for the query that asked.
struct PlanCost {
  uint32_t rows = 0;
  uint32_t cached_tokens = 0;
  uint32_t rebuilt_tokens = 0;
};

class StepPlan {
 public:
  StepPlan(BlockPool& pool, uint64_t step, uint32_t max_rows);

  // The state of the branch's last token, kept in its block for all who share it.
  Need require_tip(const Branch& branch, PlanCost& cost);

  // The states of the tokens [first, end) of the branch, in order, as many as fit; each is kept in
  // this plan under the number that is pushed to `wanted`. Returns met when all of them are in the
  // step.
  Need require_states(const Branch& branch, uint32_t first, uint32_t end, PlanCost& cost,
                      std::vector<uint32_t>& wanted);

  // One pass over the weights, then the tips' states go to their blocks and full blocks to the
  // cache.
  void run(ModelRunner& runner);

  uint32_t rows() const { return static_cast<uint32_t>(rows_.size()); }
  std::span<const float> state(uint32_t wanted) const;
  // Pages that the last plan refused would have needed, all at once.
  uint64_t pages_missing() const { return pages_missing_; }

 private:
  struct PlannedRow {
    Block* block;
    uint32_t slot;
    uint32_t reads_begin;
    uint32_t reads_end;
  };
  struct Missing {
    Block* block;
    uint32_t to;  // rows before this slot are needed
  };

  Need make_resident(const std::vector<BlockRun>& runs, PlanCost& cost,
                     std::vector<Missing>& missing);
  bool add_rows(const std::vector<Missing>& missing, PlanCost& cost);
  void keep_tip(Block& block, uint32_t slot, uint32_t row);
  // The row's place in the step; a row that is in it already is not added twice.
  uint32_t add_row(Block& block, uint32_t slot, PlanCost& cost);
  bool full() const { return rows() >= max_rows_; }

  BlockPool& pool_;
  const uint64_t step_;
  const uint32_t max_rows_;
  std::vector<PlannedRow> rows_;
  std::map<std::pair<const Block*, uint32_t>, uint32_t> places_;  // of each row, by block and slot
  std::vector<BlockRead> reads_;   // of all rows, one after the other
  std::vector<BlockRun> lineage_;  // of lineage_of_
  const Block* lineage_of_ = nullptr;
  std::vector<uint32_t> wanted_rows_;  // rows whose state is kept
  std::vector<Block*> keepers_;        // per wanted row: the block that keeps it as a tip, or null
  std::vector<float> states_;
  uint32_t width_ = 0;
  uint64_t pages_missing_ = 0;
};

}  // namespace thinkd::engine
