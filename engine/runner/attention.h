#pragma once
// Attention over pages: each row folds over its reads from left to right, one partial result a
// read. A partial depends on the read's keys and the query alone, so rows that read one page are
// computed together and a shared prefix comes from memory once a step; nothing else about a row's
// company reaches its result. The fold of partials is the one of Dao et al. 2023, "Flash-Decoding",
// with cuts that never move.
//
// A plan is made once a step and used for each layer. The engine thread owns both.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/kernels/thread_pool.h"
#include "engine/runner/model_runner.h"
#include "engine/runner/page_layout.h"
#include "engine/runner/rope_table.h"

namespace thinkd::engine {

// Rows ordered so that those with a common prefix of pages stand together, cut into groups that are
// worked on apart. `rows` must outlive the plan.
struct AttentionPlan {
  struct Group {
    uint32_t begin = 0;  // into `order`
    uint32_t end = 0;
  };
  std::span<const Row> rows;
  std::vector<uint32_t> chosen;  // the rows that attend: indices into `rows`
  std::vector<uint32_t> order;   // indices into `chosen`
  std::vector<Group> groups;
};

AttentionPlan plan_attention(std::span<const Row> rows, std::vector<uint32_t> chosen,
                             uint32_t groups_wanted);

class Attention {
 public:
  Attention(const TransformerConfig& config, const PageLayout& layout, const Kernels& kernels,
            const RopeTable& rope, ThreadPool& pool);

  // queries and out: one row of heads x head_size floats for each chosen row; queries not yet
  // rotated.
  void run(const AttentionPlan& plan, uint32_t layer, const float* queries, float* out);

 private:
  struct Scratch {                   // one a worker
    std::vector<float> rotated;      // queries of the group at the shift they were last rotated for
    std::vector<int64_t> positions;  // that shift's position, by row of the group
    std::vector<AttentionState> states;  // by row of the group and head
    std::vector<uint8_t> begun;          // by row of the group
    std::vector<float> keys, values;     // the block at hand as floats
    std::vector<float> partial;
  };
  struct Work {
    const AttentionPlan& plan;
    AttentionPlan::Group group;
    uint32_t layer;
    uint32_t kv_head;
    const float* queries;
    float* out;
  };

  void run_group(const Work& work, Scratch& scratch) const;
  // Rows [begin, end) of the order read the same page at this depth.
  void run_block(const Work& work, uint32_t begin, uint32_t end, uint32_t depth,
                 Scratch& scratch) const;
  void run_row(const Work& work, uint32_t at, const BlockRead& read, const KeyBlock& block,
               Scratch& scratch) const;

  const TransformerConfig& config_;
  const PageLayout layout_;
  const Kernels& kernels_;
  const RopeTable& rope_;
  ThreadPool& pool_;
  const uint32_t shared_;  // query heads on one KV head
  const float scale_;
  std::vector<Scratch> scratch_;
};

}  // namespace thinkd::engine
