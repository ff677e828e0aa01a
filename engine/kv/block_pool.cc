#include "engine/kv/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "base/sha256.h"

namespace thinkd::engine {

BlockPool::BlockPool(uint64_t page_bytes, uint64_t pages, const BlockHash& root)
    : page_bytes_((page_bytes + 63) / 64 * 64), pages_(pages), root_(root), states_(pages) {
  void* memory = mmap(nullptr, page_bytes_ * pages_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  memory_ = static_cast<uint8_t*>(memory);
  free_.reserve(pages_);
  for (uint64_t slot = pages_; slot-- > 0;) {
    free_.push_back(static_cast<uint32_t>(slot));
  }
}

BlockPool::~BlockPool() {
  reclaim();
  assert(with_page_ == nullptr && "a branch outlived its engine");
  munmap(memory_, page_bytes_ * pages_);
}

BlockRef BlockPool::make_block() {
  auto block = std::make_unique<Block>();
  block->pool = this;
  return BlockRef(block.release());
}

void BlockPool::release(Block* block) {
  Block* head = released_.load(std::memory_order_relaxed);
  do {
    block->reclaim_next = head;
  } while (!released_.compare_exchange_weak(head, block, std::memory_order_release,
                                            std::memory_order_relaxed));
}

void BlockPool::reclaim() {
  // Freeing a block drops its parent, which may land in the list again: until nothing is left.
  while (Block* block = released_.exchange(nullptr, std::memory_order_acquire)) {
    while (block != nullptr) {
      Block* next = block->reclaim_next;
      if (block->page != nullptr) {
        detach(*block);
      }
      std::unique_ptr<Block>(block).reset();
      block = next;
    }
  }
  publish_stats();
}

void BlockPool::attach(Block& block, uint32_t slot, uint64_t step) {
  PageState& state = states_[slot];
  if (state.holders++ == 0) {
    ++used_;
    if (state.cached) {
      idle_remove(slot);
    }
  }
  touch_page(slot, step);
  block.page = page_at(slot);
  block.page_slot = slot;
  block.previous = nullptr;
  block.next = with_page_;
  if (with_page_ != nullptr) {
    with_page_->previous = &block;
  }
  with_page_ = &block;
}

void BlockPool::detach(Block& block) {
  PageState& state = states_[block.page_slot];
  if (--state.holders == 0) {
    --used_;
    if (state.cached) {
      idle_push(block.page_slot);
    } else {
      free_.push_back(block.page_slot);
    }
  }
  (block.previous != nullptr ? block.previous->next : with_page_) = block.next;
  if (block.next != nullptr) {
    block.next->previous = block.previous;
  }
  block.previous = block.next = nullptr;
  block.page = nullptr;
  block.computed = block.stored = 0;
}

void BlockPool::idle_push(uint32_t slot) {
  PageState& state = states_[slot];
  state.older = newest_;
  state.newer = kNone;
  (newest_ != kNone ? states_[newest_].newer : oldest_) = slot;
  newest_ = slot;
  ++idle_;
}

void BlockPool::idle_remove(uint32_t slot) {
  PageState& state = states_[slot];
  (state.older != kNone ? states_[state.older].newer : oldest_) = state.newer;
  (state.newer != kNone ? states_[state.newer].older : newest_) = state.older;
  state.older = state.newer = kNone;
  --idle_;
}

void BlockPool::forget(uint32_t slot) {
  cache_.erase(states_[slot].hash);
  states_[slot].cached = false;
}

uint64_t BlockPool::available(uint64_t step) const {
  const uint64_t touched = step == touched_step_ ? touched_ : 0;
  return free_.size() + idle_ + (used_ - touched);
}

void BlockPool::touch_page(uint32_t slot, uint64_t step) {
  if (step != touched_step_) {
    touched_step_ = step;
    touched_ = 0;
  }
  if (states_[slot].touched != step) {
    states_[slot].touched = step;
    ++touched_;
  }
}

uint32_t BlockPool::take_page(uint64_t step) {
  if (!free_.empty()) {
    const uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  if (oldest_ != kNone) {
    const uint32_t slot = oldest_;
    idle_remove(slot);
    forget(slot);
    ++evictions_;
    return slot;
  }
  const Block* victim = nullptr;
  for (const Block* block = with_page_; block != nullptr; block = block->next) {
    const uint64_t touched = states_[block->page_slot].touched;
    if (touched < step && (victim == nullptr || touched < states_[victim->page_slot].touched)) {
      victim = block;
    }
  }
  if (victim == nullptr) {
    return kNone;
  }
  const uint32_t slot = victim->page_slot;
  if (states_[slot].cached) {
    forget(slot);
  }
  for (Block* block = with_page_; block != nullptr;) {
    Block* next = block->next;
    if (block->page_slot == slot) {
      detach(*block);
    }
    block = next;
  }
  ++evictions_;
  free_.pop_back();  // the last detach put it there
  return slot;
}

void BlockPool::touch(Block& block, uint64_t step) { touch_page(block.page_slot, step); }

bool BlockPool::give_page(Block& block, uint64_t step) {
  if (block.page != nullptr) {
    touch(block, step);
    return true;
  }
  Block* source = block.copied_from.get();
  const bool copies = source != nullptr && source->page != nullptr;
  const uint64_t source_touched = copies ? states_[source->page_slot].touched : 0;
  if (copies) {
    touch(*source, step);
  }
  uint32_t slot = take_page(step);
  if (slot == kNone && copies && source_touched < step) {
    // Only the page to copy from is left: its rows are computed again instead.
    states_[source->page_slot].touched = source_touched;
    --touched_;
    slot = take_page(step);
  }
  if (slot == kNone) {
    return false;
  }
  attach(block, slot, step);
  block.computed = block.stored = block.first;
  if (source != nullptr) {
    if (source->page != nullptr) {
      std::memcpy(block.page, source->page, page_bytes_);
      block.computed = block.stored = std::min(source->stored, block.copied_rows);
      block.once_computed = std::max(block.once_computed, block.computed);
      if (source_touched < step) {
        // Copied: its page may go. Else the step could give fewer pages than available() said.
        states_[source->page_slot].touched = source_touched;
        --touched_;
      }
    }
    block.copied_from = BlockRef();
  }
  return true;
}

bool BlockPool::adopt(Block& block, uint64_t step) {
  if (!caching_ || !block.exact || block.filled != kBlockTokens || block.first != 0) {
    return false;
  }
  const auto found = cache_.find(hash(block));
  if (found == cache_.end() || states_[found->second].tokens != block.tokens) {
    return false;
  }
  if (block.page != nullptr) {
    if (block.page_slot == found->second) {
      return false;
    }
    detach(block);
  }
  block.copied_from = BlockRef();
  attach(block, found->second, step);
  block.computed = block.stored = block.once_computed = kBlockTokens;
  return true;
}

void BlockPool::publish(Block& block) {
  PageState& state = states_[block.page_slot];
  if (!caching_ || state.cached || !block.exact || block.computed != kBlockTokens ||
      block.first != 0) {
    return;
  }
  if (!cache_.emplace(hash(block), block.page_slot).second) {
    return;
  }
  state.cached = true;
  state.hash = block.hash;
  state.tokens = block.tokens;
}

const BlockHash& BlockPool::hash(Block& block) const {
  std::vector<Block*> todo;
  for (Block* at = &block; at != nullptr && !at->hashed; at = at->parent.get()) {
    todo.push_back(at);
  }
  for (size_t i = todo.size(); i-- > 0;) {
    Block& at = *todo[i];
    Sha256 sha;
    sha.add(at.parent ? at.parent->hash : root_);
    for (Token token : at.tokens) {
      sha.add_u32(token);
    }
    const Sha256Digest digest = sha.digest();
    std::copy_n(digest.begin(), at.hash.size(), at.hash.begin());
    at.hashed = true;
  }
  return block.hash;
}

size_t BlockPool::HashOf::operator()(const BlockHash& hash) const {
  size_t value;
  std::memcpy(&value, hash.data(), sizeof value);
  return value;
}

PoolStats BlockPool::stats() const {
  return {shown_used_.load(), shown_cached_.load(), pages_, shown_evictions_.load()};
}

void BlockPool::publish_stats() {
  shown_used_.store(used_);
  shown_cached_.store(idle_);
  shown_evictions_.store(evictions_);
}

}  // namespace thinkd::engine
