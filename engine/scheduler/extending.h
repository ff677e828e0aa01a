#pragma once
// One branch while it is being extended: takes a token a tick, knows when it ends and why.
// Engine thread only.

#include <cstdint>
#include <optional>

#include "engine/scheduler/query.h"
#include "engine/tokenizer/tokenizer.h"

namespace thinkd::engine {

class Extending {
 public:
  Extending(WorkId id, ExtendItem item) : id_(id), item_(std::move(item)) {}

  WorkId id() const { return id_; }
  const BranchPath& path() const { return item_.path; }
  const Branch& branch() const { return item_.branch; }
  bool wants_hidden() const { return item_.hidden_at_stop; }

  // True where it is new or has grown by a block since it was last asked.
  bool grown() const { return grown_; }
  bool take_grown() { return std::exchange(grown_, false); }

  // Where it is over before it begins: no token asked for, or no room in the context.
  std::optional<ExtendEnd> over(uint32_t context) const;

  // The token a journal knows for this tick; none: it must be drawn.
  std::optional<Draw> recorded() const;
  std::optional<Draw> draw(std::span<const float> logits) const;

  // Appends the token of this tick; the end, where this was the last.
  std::optional<ExtendEnd> take(const Draw& draw, const Vocabulary& vocabulary, uint32_t context);

  ExtendResult finish(ExtendEnd end);  // moves the branch out

 private:
  WorkId id_;
  ExtendItem item_;
  ExtendResult result_;
  bool grown_ = true;
};

}  // namespace thinkd::engine
