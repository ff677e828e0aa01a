#pragma once
// A block: up to B consecutive tokens of a recipe, and the page that caches their keys and values.
//
// The recipe part (parent, context, slots, tokens) belongs to whoever holds the block and is
// immutable once it is shared: a holder writes further slots only while it is the only one. The
// cache part (page, computed, hidden) belongs to the engine thread and may vanish at any time
// between steps; it is rebuilt bit for bit from the recipe. Releasing the last reference from any
// thread costs one pointer push; the engine thread frees what was pushed (BlockPool::reclaim).

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "engine/runner/model_runner.h"
#include "engine/tokenizer/token.h"

namespace thinkd::engine {

class BlockPool;
struct Block;

// First 16 bytes of SHA-256 over the parent's hash and the block's tokens as u32 little-endian.
using BlockHash = std::array<uint8_t, 16>;

// Counted reference to a block. Copying and dropping are safe on any thread.
class BlockRef {
 public:
  BlockRef() = default;
  explicit BlockRef(Block* counted) : block_(counted) {}  // takes over one count
  BlockRef(const BlockRef& other);
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~BlockRef();

  Block* get() const { return block_; }
  Block* operator->() const { return block_; }
  Block& operator*() const { return *block_; }
  explicit operator bool() const { return block_ != nullptr; }
  bool unique() const;  // no one else holds it: its holder may write

 private:
  Block* block_ = nullptr;
};

// A maximal run of stored rows that a branch reads with one shift: `length` rows that end before
// slot `end` of `last`, in the chain of parents. Served at stored position + shift.
struct Segment {
  BlockRef last;
  uint32_t end = 0;
  uint32_t length = 0;
  int64_t shift = 0;
};

// The segments before a branch's own tail run; immutable, shared by all blocks and branches behind
// it.
struct Context {
  std::vector<Segment> segments;
  uint32_t length = 0;  // rows in all segments
  Sha256Digest hash{};  // names the recipe of every row in it and how it is read
};
using ContextRef = std::shared_ptr<const Context>;

// The state after the final norm of a branch's last token: its row runs once for all who end there.
struct Tip {
  uint32_t slot = 0;
  uint64_t step = 0;                                // that last used it
  std::shared_ptr<const std::vector<float>> state;  // null while its row is in the step at hand
};

struct Block {
  std::atomic<uint32_t> references{1};
  BlockPool* pool = nullptr;

  // Recipe.
  BlockRef parent;      // the block before it in its run, null for a run's first
  ContextRef context;   // what the run reads before itself; null where it starts a recipe
  uint32_t index = 0;   // stored positions [index * B, index * B + B)
  uint32_t first = 0;   // first slot in use: > 0 only in a run that starts behind a splice
  uint32_t filled = 0;  // slots [first, filled) hold tokens
  bool exact = true;    // no splice before it: may enter the prefix cache
  bool hashed = false;
  std::array<Token, kBlockTokens> tokens{};
  BlockHash hash{};  // of a full exact block

  // Cache: engine thread only.
  PageData page = nullptr;
  uint32_t computed = 0;  // slots [first, computed) of the page are valid after the step at hand
  uint32_t stored = 0;    // and these already are: what may be copied
  uint32_t once_computed = 0;  // the most slots that ever were: computing these again is a rebuild
  uint32_t page_slot = 0;      // the pool's number of the page
  uint64_t counted = 0;        // mark of the last visit (BlockPool::next_mark)
  uint32_t counted_to = 0;     // slots that visit asked for
  BlockRef copied_from;        // its page holds the rows [first, copied_rows) already
  uint32_t copied_rows = 0;
  std::vector<Tip> tips;  // states kept for branches that end in this block

  // Intrusive links of the pool: blocks that own a page; blocks to be reclaimed.
  Block* previous = nullptr;
  Block* next = nullptr;
  Block* reclaim_next = nullptr;

  Tip* tip(uint32_t slot);  // null where none is kept
  int64_t position(uint32_t slot) const { return int64_t{index} * kBlockTokens + slot; }
};

// The blocks of a segment in order, each with the slots that the segment reads.
struct BlockRun {
  Block* block = nullptr;
  uint32_t from = 0;
  uint32_t to = 0;
  int64_t shift = 0;
};
void append_runs(const Segment& segment, std::vector<BlockRun>& runs);

// What a row of `block` reads before the block itself: its context, then the blocks before it in
// its run.
std::vector<BlockRun> lineage(const Block& block);

// Distinct blocks that computing these segments' rows from nothing reads, their own included: never
// fewer than any step needs at once. Marks what it counts; engine thread only.
uint64_t recipe_pages(const std::vector<Segment>& segments, uint64_t mark);

}  // namespace thinkd::engine
