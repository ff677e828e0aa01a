#include "engine/scheduler/step_plan.h"

#include <algorithm>

namespace thinkd::engine {

namespace {

std::vector<BlockRun> runs_of(const Branch& branch) {
  std::vector<BlockRun> runs;
  for (const Segment& segment : branch.segments()) {
    append_runs(segment, runs);
  }
  return runs;
}

}  // namespace

StepPlan::StepPlan(BlockPool& pool, uint64_t step, uint32_t max_rows)
    : pool_(pool), step_(step), max_rows_(max_rows) {}

// Gives pages to all blocks that `runs` read and, where rows of such a block are missing, to what
// those rows read in turn. `missing` gets the blocks with rows to compute, what they read before
// them.
Need StepPlan::make_resident(const std::vector<BlockRun>& runs, PlanCost& cost,
                             std::vector<Missing>& missing) {
  struct Visit {
    BlockRun run;
    bool lineage_done;
  };
  std::vector<BlockRun> resident;
  std::vector<Missing> found;
  std::vector<Visit> stack;
  const uint64_t mark = pool_.next_mark();
  for (size_t i = runs.size(); i-- > 0;) {
    stack.push_back({runs[i], false});
  }
  while (!stack.empty()) {
    Visit& visit = stack.back();
    Block& block = *visit.run.block;
    const bool here = block.page != nullptr && block.computed >= visit.run.to;
    if (here || visit.lineage_done) {
      if (!here) {
        found.push_back({&block, visit.run.to});
      }
      resident.push_back(visit.run);
      stack.pop_back();
      continue;
    }
    visit.lineage_done = true;
    if (block.counted == mark) {
      block.counted_to = std::max(block.counted_to, visit.run.to);
      continue;  // its lineage is on the list already
    }
    block.counted = mark;
    block.counted_to = visit.run.to;
    if (block.page == nullptr && pool_.adopt(block, step_)) {
      cost.cached_tokens += kBlockTokens;
      continue;
    }
    const std::vector<BlockRun> before = lineage(block);
    for (size_t i = before.size(); i-- > 0;) {
      if (before[i].block->counted != mark || before[i].block->counted_to < before[i].to) {
        stack.push_back({before[i], false});
      }
    }
  }
  uint64_t pages = 0;
  const uint64_t page_mark = pool_.next_mark();
  for (const BlockRun& run : resident) {
    if (run.block->counted == page_mark) {
      continue;
    }
    run.block->counted = page_mark;
    if (run.block->page != nullptr) {
      pool_.touch(*run.block, step_);
    } else {
      ++pages;
    }
  }
  if (pages > pool_.available(step_)) {
    pages_missing_ = pages;
    return Need::no_room;
  }
  for (const BlockRun& run : resident) {
    if (!pool_.give_page(*run.block, step_)) {
      pages_missing_ = pages;
      return Need::no_room;
    }
  }
  missing.insert(missing.end(), found.begin(), found.end());
  return Need::met;
}

uint32_t StepPlan::add_row(Block& block, uint32_t slot, PlanCost& cost) {
  const auto [place, fresh] = places_.try_emplace({&block, slot}, rows());
  if (!fresh) {
    return place->second;
  }
  if (lineage_of_ != &block) {
    lineage_ = lineage(block);
    lineage_of_ = &block;
  }
  const auto begin = static_cast<uint32_t>(reads_.size());
  for (const BlockRun& run : lineage_) {
    reads_.push_back({run.block->page, run.from, run.to, run.shift});
  }
  reads_.push_back({block.page, block.first, slot + 1, 0});
  rows_.push_back({&block, slot, begin, static_cast<uint32_t>(reads_.size())});
  ++cost.rows;
  if (slot >= block.computed) {
    cost.rebuilt_tokens += slot < block.once_computed ? 1 : 0;
    block.computed = slot + 1;
    block.once_computed = std::max(block.once_computed, block.computed);
  }
  return place->second;
}

bool StepPlan::add_rows(const std::vector<Missing>& missing, PlanCost& cost) {
  for (const Missing& miss : missing) {
    while (miss.block->computed < miss.to) {
      if (full()) {
        return false;
      }
      add_row(*miss.block, miss.block->computed, cost);
    }
  }
  return true;
}

// A branch that grows inside a block leaves a tip behind at each step. A few are kept, in case a
// fork ends there; one that was dropped is computed again.
void StepPlan::keep_tip(Block& block, uint32_t slot, uint32_t row) {
  constexpr size_t kKept = 2;
  if (block.tips.size() >= kKept) {
    std::erase_if(block.tips, [&](const Tip& tip) { return tip.step < step_; });
  }
  block.tips.push_back({slot, step_, nullptr});
  wanted_rows_.push_back(row);
  keepers_.push_back(&block);
}

Need StepPlan::require_tip(const Branch& branch, PlanCost& cost) {
  Block& tip = *branch.segments().back().last;
  const uint32_t slot = branch.segments().back().end - 1;
  if (Tip* kept = tip.tip(slot)) {  // from an earlier step, or planned for this one
    kept->step = step_;
    return Need::met;
  }
  std::vector<BlockRun> runs = runs_of(branch);
  // The tip's own row is added below, once what it reads is there.
  runs.back().to = slot;
  if (!branch.tail()) {
    // It ends in a splice: its last row is computed where it was written, with what it read there.
    const std::vector<BlockRun> before = lineage(tip);
    runs.insert(runs.begin(), before.begin(), before.end());
    runs.push_back({&tip, tip.first, slot, 0});
  }
  std::vector<Missing> missing;
  if (make_resident(runs, cost, missing) == Need::no_room) {
    return Need::no_room;
  }
  if (!add_rows(missing, cost) || full()) {
    return Need::partly;
  }
  keep_tip(tip, slot, add_row(tip, slot, cost));
  return Need::met;
}

Need StepPlan::require_states(const Branch& branch, uint32_t first, uint32_t end, PlanCost& cost,
                              std::vector<uint32_t>& wanted) {
  const std::vector<BlockRun> runs = runs_of(branch);
  uint32_t at = 0;
  for (const BlockRun& run : runs) {
    const uint32_t begin = at;
    at += run.to - run.from;
    if (at <= first || begin >= end) {
      continue;
    }
    std::vector<BlockRun> needed = lineage(*run.block);
    needed.push_back({run.block, run.block->first, run.from + (std::max(first, begin) - begin), 0});
    std::vector<Missing> missing;
    if (make_resident(needed, cost, missing) == Need::no_room) {
      return wanted.empty() ? Need::no_room : Need::partly;
    }
    if (!add_rows(missing, cost)) {
      return Need::partly;
    }
    for (uint32_t position = std::max(first, begin); position < std::min(end, at); ++position) {
      if (full()) {
        return Need::partly;
      }
      wanted_rows_.push_back(add_row(*run.block, run.from + (position - begin), cost));
      keepers_.push_back(nullptr);
      wanted.push_back(static_cast<uint32_t>(wanted_rows_.size()) - 1);
    }
  }
  return Need::met;
}

void StepPlan::run(ModelRunner& runner) {
  if (rows_.empty()) {
    return;
  }
  width_ = runner.shape().width;
  states_.resize(wanted_rows_.size() * width_);
  std::vector<Row> rows;
  rows.reserve(rows_.size());
  for (const PlannedRow& planned : rows_) {
    const int64_t position = planned.block->position(planned.slot);
    rows.push_back(
        {planned.block->tokens[planned.slot], position, planned.block->page, planned.slot,
         std::span(reads_).subspan(planned.reads_begin, planned.reads_end - planned.reads_begin),
         position});
  }
  runner.run(rows, wanted_rows_, states_.data());
  for (size_t i = 0; i < keepers_.size(); ++i) {
    if (keepers_[i] != nullptr) {
      const std::span<const float> kept = state(static_cast<uint32_t>(i));
      keepers_[i]->tip(rows_[wanted_rows_[i]].slot)->state =
          std::make_shared<const std::vector<float>>(kept.begin(), kept.end());
    }
  }
  for (const PlannedRow& planned : rows_) {
    planned.block->stored = planned.block->computed;
    pool_.publish(*planned.block);
  }
}

std::span<const float> StepPlan::state(uint32_t wanted) const {
  return std::span(states_).subspan(uint64_t{wanted} * width_, width_);
}

}  // namespace thinkd::engine
