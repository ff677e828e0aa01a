#pragma once
// A branch: the recipe of a text. It holds tokens and, where it reads other branches, what it reads
// and where; never keys and values. Branches share their history: a copy is a fork and costs two
// pointers, a truncation or a drop likewise, and none of them waits for the engine.
//
// A value type: one thread at a time uses one object; different objects that share history may be
// used by different threads. Every token must be in the vocabulary of the engine that made the
// branch.

#include <cstdint>
#include <span>
#include <vector>

#include "base/sha256.h"
#include "base/status.h"
#include "engine/kv/block.h"

namespace thinkd::engine {

class Branch {
 public:
  Branch() = default;
  explicit Branch(BlockPool* pool) : pool_(pool) {}

  uint32_t length() const { return length_; }
  bool exact() const { return context_ == nullptr; }

  void append(std::span<const Token> tokens);

  // Keeps the first `length` tokens. A cut inside a block leaves the block to whoever shares it.
  Status truncate(uint32_t length);

  // Reads `count` tokens of `source` from `first` on at the end of this branch, as they were
  // computed there: keys and values are not computed again, only turned to their new positions.
  // What follows is approximate, since those rows never saw this branch. A branch that ends in a
  // splice goes on from the state that its last token had in the source; append a token of its own
  // where that matters.
  Status splice(const Branch& source, uint32_t first, uint32_t count);

  std::vector<Token> tokens(uint32_t first, uint32_t count) const;
  Token token(uint32_t position) const;

  // Names the recipe: equal for branches that give the same text by the same splices.
  Sha256Digest recipe_hash() const;

  // Engine side: the segments in fold order, the tail run last.
  std::vector<Segment> segments() const;
  const BlockRef& tail() const { return tail_; }
  uint32_t tail_end() const { return tail_end_; }

 private:
  uint32_t context_length() const { return context_ ? context_->length : 0; }
  void open_tail();  // makes sure that the tail block can take one more token
  void set_segments(std::vector<Segment> segments);

  BlockPool* pool_ = nullptr;
  ContextRef context_;     // null: the branch is one run from position 0
  BlockRef tail_;          // last block of the tail run, null where the run is empty
  uint32_t tail_end_ = 0;  // slot behind its last token
  uint32_t length_ = 0;
};

}  // namespace thinkd::engine
