#pragma once
// Owner of blocks and of the pages that cache them, under a hard byte limit, and the prefix cache
// over exact full blocks. Pages no live branch needs are kept, least recently used ones go first;
// then pages of live blocks that the step at hand does not read.
//
// Threads: make_block() and the release of BlockRefs may happen anywhere; everything else belongs
// to the engine thread.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/kv/block.h"

namespace thinkd::engine {

struct PoolStats {
  uint64_t used = 0;    // pages of live blocks
  uint64_t cached = 0;  // pages that only the prefix cache holds
  uint64_t total = 0;
  uint64_t evictions = 0;
};

class BlockPool {
 public:
  // `root` starts every hash chain: the model, layout, build, ISA path, compute mode and tenant.
  BlockPool(uint64_t page_bytes, uint64_t pages, const BlockHash& root);
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  BlockRef make_block();
  void release(Block* block);  // the last reference went; called by BlockRef

  // Engine thread from here on.
  void reclaim();  // frees what was released since the last call
  bool reclaim_pending() const { return released_.load(std::memory_order_acquire) != nullptr; }

  // Gives the block a page, evicting what `step` does not use; false where every page is in use by
  // it. Where the block was cut off another, that one's rows are copied if they are still there.
  bool give_page(Block& block, uint64_t step);
  void touch(Block& block,
             uint64_t step);  // `step` reads it: it may not be evicted before the next
  uint64_t available(uint64_t step) const;  // pages that give_page could hand out in `step`
  void set_caching(bool caching) { caching_ = caching; }  // default: on

  // Takes the page of an equal cached block where there is one; true: the block is computed.
  bool adopt(Block& block, uint64_t step);
  void publish(Block& block);  // a full, exact, computed block enters the prefix cache

  // A number no block was marked with yet: for counting or visiting distinct blocks.
  uint64_t next_mark() { return ++mark_; }

  // The hash chain of a full exact block; computed on first use.
  const BlockHash& hash(Block& block) const;

  PoolStats stats() const;  // any thread: as of the last reclaim or step
  void publish_stats();
  uint64_t pages() const { return pages_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct PageState {
    uint32_t holders = 0;  // live blocks that it serves
    bool cached = false;   // in the prefix cache, under `hash`
    uint64_t touched = 0;  // step that last used it
    BlockHash hash{};
    std::array<Token, kBlockTokens> tokens{};
    uint32_t older =
        kNone;  // the list of pages that only the cache holds, least recently used first
    uint32_t newer = kNone;
  };
  struct HashOf {
    size_t operator()(const BlockHash& hash) const;
  };

  PageData page_at(uint32_t slot) { return memory_ + uint64_t{slot} * page_bytes_; }
  void attach(Block& block, uint32_t slot, uint64_t step);
  void detach(Block& block);
  void touch_page(uint32_t slot, uint64_t step);
  void idle_push(uint32_t slot);
  void idle_remove(uint32_t slot);
  void forget(uint32_t slot);
  uint32_t take_page(uint64_t step);

  const uint64_t page_bytes_;
  const uint64_t pages_;
  const BlockHash root_;
  uint8_t* memory_ = nullptr;

  std::atomic<Block*> released_{nullptr};

  std::vector<PageState> states_;
  std::vector<uint32_t> free_;
  uint32_t oldest_ = kNone;
  uint32_t newest_ = kNone;
  Block* with_page_ = nullptr;  // list of live blocks that own a page
  std::unordered_map<BlockHash, uint32_t, HashOf> cache_;
  uint64_t used_ = 0;
  uint64_t idle_ = 0;
  uint64_t touched_step_ = 0;
  uint64_t touched_ = 0;  // live pages that this step has touched
  uint64_t evictions_ = 0;
  uint64_t mark_ = 0;
  bool caching_ = true;

  std::atomic<uint64_t> shown_used_{0};
  std::atomic<uint64_t> shown_cached_{0};
  std::atomic<uint64_t> shown_evictions_{0};
};

}  // namespace thinkd::engine
