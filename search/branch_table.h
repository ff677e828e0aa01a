#pragma once
// The branches of a run by the ids that its strategy holds. One thread (the run's).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/limits.h"
#include "base/status.h"
#include "engine/scheduler/query.h"
#include "search/lineage.h"

namespace thinkd::search {

struct BranchSlot {
  BranchSlot(engine::Branch start, engine::BranchPath at, Lineage history)
      : branch(std::move(start)), path(std::move(at)), lineage(std::move(history)) {}

  engine::Branch branch;  // moved out while `held_by` works on it
  engine::BranchPath path;
  Lineage lineage;  // what it has generated
  engine::StopMatcher matcher;
  uint32_t epoch = 0;               // truncations
  uint64_t draws = 0;               // tokens drawn in this epoch
  uint32_t forks = 0;               // children ever made
  uint64_t cut_bytes = 0;           // at the end of the generated text: of a stop text
  std::optional<uint64_t> held_by;  // ticket of the work in hand
  bool candidate = false;
  bool pruned = false;          // the strategy said so: its drop says nothing more
  bool cut_by_longest = false;  // the budget's `longest` ended it
};

class BranchTable {
 public:
  static_assert(limits::kBranches > limits::kSamples);  // and their root

  // limit: live branches, or all that the run ever opened.
  Status room_for(uint64_t count) const {
    if (slots_.size() + count > limits::kBranches) {
      return over_limit(std::to_string(slots_.size() + count) + " live branches; a run may hold " +
                        std::to_string(limits::kBranches));
    }
    if (opened_ + count > limits::kTreeNodes) {
      return over_limit(std::to_string(opened_ + count) + " branches opened; a run may open " +
                        std::to_string(limits::kTreeNodes));
    }
    return {};
  }

  uint64_t add(BranchSlot slot) {
    ++opened_;
    slots_.emplace(opened_, std::move(slot));
    return opened_;
  }

  BranchSlot* find(uint64_t id) {
    const auto found = slots_.find(id);
    return found == slots_.end() ? nullptr : &found->second;
  }

  auto begin() { return slots_.begin(); }  // in order of opening
  auto end() { return slots_.end(); }

  void drop(uint64_t id) { slots_.erase(id); }
  void clear() { slots_.clear(); }
  uint64_t live() const { return slots_.size(); }

 private:
  std::map<uint64_t, BranchSlot> slots_;
  uint64_t opened_ = 0;
};

}  // namespace thinkd::search
