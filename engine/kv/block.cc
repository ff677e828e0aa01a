#include "engine/kv/block.h"

#include <algorithm>

#include "engine/kv/block_pool.h"

namespace thinkd::engine {

BlockRef::BlockRef(const BlockRef& other) : block_(other.block_) {
  if (block_ != nullptr) {
    block_->references.fetch_add(1, std::memory_order_relaxed);
  }
}

BlockRef::~BlockRef() {
  if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    block_->pool->release(block_);
  }
}

bool BlockRef::unique() const {
  return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
}

Tip* Block::tip(uint32_t slot) {
  const auto found =
      std::find_if(tips.begin(), tips.end(), [slot](const Tip& kept) { return kept.slot == slot; });
  return found == tips.end() ? nullptr : &*found;
}

void append_runs(const Segment& segment, std::vector<BlockRun>& runs) {
  const size_t start = runs.size();
  Block* block = segment.last.get();
  uint32_t to = segment.end;
  uint32_t left = segment.length;
  while (left > 0) {
    const uint32_t take = std::min(left, to - block->first);
    runs.push_back({block, to - take, to, segment.shift});
    left -= take;
    block = block->parent.get();
    to = kBlockTokens;
  }
  std::reverse(runs.begin() + static_cast<std::ptrdiff_t>(start), runs.end());
}

std::vector<BlockRun> lineage(const Block& block) {
  std::vector<BlockRun> runs;
  if (block.context) {
    for (const Segment& segment : block.context->segments) {
      append_runs(segment, runs);
    }
  }
  const size_t start = runs.size();
  for (Block* before = block.parent.get(); before != nullptr; before = before->parent.get()) {
    runs.push_back({before, before->first, kBlockTokens, 0});
  }
  std::reverse(runs.begin() + static_cast<std::ptrdiff_t>(start), runs.end());
  return runs;
}

uint64_t recipe_pages(const std::vector<Segment>& segments, uint64_t mark) {
  std::vector<Block*> left;
  const auto add = [&](const std::vector<Segment>& reads) {
    for (const Segment& segment : reads) {
      left.push_back(segment.last.get());
    }
  };
  add(segments);
  uint64_t pages = 0;
  while (!left.empty()) {
    Block* block = left.back();
    left.pop_back();
    if (block->counted == mark) {
      continue;
    }
    block->counted = mark;
    ++pages;
    if (block->parent) {
      left.push_back(block->parent.get());  // of the same run, so with the same context
    } else if (block->context) {
      add(block->context->segments);
    }
  }
  return pages;
}

}  // namespace thinkd::engine
