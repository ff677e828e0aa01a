#include "engine/kv/branch.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "engine/kv/block_pool.h"

namespace thinkd::engine {

namespace {

// Names the rows of a segment (tokens and lineage) and the way they are read.
void add_segment(Sha256& sha, const Segment& segment) {
  std::vector<BlockRun> run;
  append_runs(segment, run);
  const Block& head = *run.front().block;
  sha.add_u64(static_cast<uint64_t>(segment.shift));
  sha.add_u64(static_cast<uint64_t>(head.position(run.front().from)));
  sha.add_u32(segment.length);
  sha.add_u32(head.context ? 1 : 0);
  if (head.context) {
    sha.add(head.context->hash);
  }
  // The rows before the cut shape the rows behind it, so the whole run is named, from its first
  // token.
  std::vector<const Block*> blocks;
  for (const Block* block = segment.last.get(); block != nullptr; block = block->parent.get()) {
    blocks.push_back(block);
  }
  for (size_t i = blocks.size(); i-- > 0;) {
    const uint32_t to = i == 0 ? segment.end : kBlockTokens;
    for (uint32_t slot = blocks[i]->first; slot < to; ++slot) {
      sha.add_u32(blocks[i]->tokens[slot]);
    }
  }
}

// True where `next` goes on exactly where `previous` ends: one run, one shift.
bool joins(const Segment& previous, const BlockRun& next) {
  if (previous.shift != next.shift) {
    return false;
  }
  if (previous.last.get() == next.block) {
    return previous.end == next.from;
  }
  return previous.end == kBlockTokens && next.from == next.block->first && next.block->parent &&
         next.block->parent.get() == previous.last.get();
}

BlockRef share(Block* block) {
  block->references.fetch_add(1, std::memory_order_relaxed);
  return BlockRef(block);
}

// Adds a read of [from, to) of a block to a list of segments, as part of the last one where it
// fits.
void extend_segments(std::vector<Segment>& segments, const BlockRun& run) {
  if (!segments.empty() && joins(segments.back(), run)) {
    Segment& last = segments.back();
    last.length += run.to - run.from;
    last.end = run.to;
    last.last = share(run.block);
    return;
  }
  segments.push_back({share(run.block), run.to, run.to - run.from, run.shift});
}

Sha256Digest hash_segments(std::span<const Segment> segments) {
  Sha256 sha;
  for (const Segment& segment : segments) {
    add_segment(sha, segment);
  }
  return sha.digest();
}

}  // namespace

void Branch::open_tail() {
  if (tail_ && tail_end_ < kBlockTokens) {
    if (tail_.unique() && tail_->filled == tail_end_) {
      return;
    }
    BlockRef copy = pool_->make_block();
    copy->parent = tail_->parent;
    copy->context = tail_->context;
    copy->index = tail_->index;
    copy->first = tail_->first;
    copy->exact = tail_->exact;
    copy->filled = tail_end_;
    std::copy_n(tail_->tokens.begin(), tail_end_, copy->tokens.begin());
    copy->copied_rows = tail_end_;
    copy->copied_from = std::move(tail_);
    tail_ = std::move(copy);
    return;
  }
  BlockRef next = pool_->make_block();
  next->index = length_ / kBlockTokens;
  next->first = tail_ ? 0 : length_ % kBlockTokens;
  next->filled = next->first;
  next->exact = exact();
  next->context = context_;
  next->parent = std::move(tail_);
  tail_end_ = next->first;
  tail_ = std::move(next);
}

void Branch::append(std::span<const Token> tokens) {
  for (Token token : tokens) {
    open_tail();
    tail_->tokens[tail_end_] = token;
    tail_->filled = ++tail_end_;
    ++length_;
  }
}

Status Branch::truncate(uint32_t length) {
  if (length > length_) {
    return invalid("truncate to " + std::to_string(length) + " tokens: the branch has " +
                   std::to_string(length_));
  }
  if (length >= context_length()) {
    uint32_t drop = length_ - length;
    while (drop > 0) {
      const uint32_t here = tail_end_ - tail_->first;
      if (drop < here) {
        tail_end_ -= drop;
        break;
      }
      drop -= here;
      tail_ = BlockRef(tail_->parent);
      tail_end_ = tail_ ? kBlockTokens : 0;
    }
    length_ = length;
    return {};
  }
  std::vector<Segment> kept;
  uint32_t at = 0;
  for (const Segment& segment : context_->segments) {
    std::vector<BlockRun> runs;
    append_runs(segment, runs);
    for (BlockRun& run : runs) {
      run.to = std::min(run.to, run.from + (length - at));
      if (run.from < run.to) {
        extend_segments(kept, run);
        at += run.to - run.from;
      }
    }
  }
  set_segments(std::move(kept));
  return {};
}

// Where the last segment is read as it was written, behind the very context it was written behind,
// it is the branch's own run again: the branch may go on inside it and is as exact as that run was.
void Branch::set_segments(std::vector<Segment> segments) {
  context_ = nullptr;
  tail_ = BlockRef();
  tail_end_ = 0;
  length_ = 0;
  for (const Segment& segment : segments) {
    length_ += segment.length;
  }
  if (segments.empty()) {
    return;
  }
  Segment last = std::move(segments.back());
  segments.pop_back();
  const Context* own = last.last->context.get();
  const uint32_t run_length =
      static_cast<uint32_t>(last.last->position(last.end) - (own ? int64_t{own->length} : 0));
  const bool same_context = own ? own->hash == hash_segments(segments) : segments.empty();
  if (last.shift == 0 && last.length == run_length && same_context) {
    context_ = last.last->context;
    tail_end_ = last.end;
    tail_ = std::move(last.last);
    return;
  }
  segments.push_back(std::move(last));
  auto context = std::make_shared<Context>();
  context->length = length_;
  context->hash = hash_segments(segments);
  context->segments = std::move(segments);
  context_ = std::move(context);
}

Status Branch::splice(const Branch& source, uint32_t first, uint32_t count) {
  if (source.pool_ != pool_) {
    return invalid("splice: the source branch is of another engine");
  }
  if (first > source.length_ || count > source.length_ - first) {
    return invalid("splice of tokens [" + std::to_string(first) + ", " +
                   std::to_string(uint64_t{first} + count) + "): the source has " +
                   std::to_string(source.length_));
  }
  if (count == 0) {
    return {};
  }
  std::vector<Segment> joined = segments();
  const int64_t moved = int64_t{length_} - first;
  uint32_t at = 0;
  for (const Segment& segment : source.segments()) {
    std::vector<BlockRun> runs;
    append_runs(segment, runs);
    for (BlockRun& run : runs) {
      const uint32_t begin = at;
      at += run.to - run.from;
      if (at <= first || begin >= first + count) {
        continue;
      }
      const uint32_t skip = first > begin ? first - begin : 0;
      const uint32_t past = at > first + count ? at - (first + count) : 0;
      extend_segments(joined, {run.block, run.from + skip, run.to - past, run.shift + moved});
    }
  }
  set_segments(std::move(joined));
  return {};
}

std::vector<Segment> Branch::segments() const {
  std::vector<Segment> segments;
  if (context_) {
    segments = context_->segments;
  }
  if (tail_) {
    segments.push_back({tail_, tail_end_, length_ - context_length(), 0});
  }
  return segments;
}

std::vector<Token> Branch::tokens(uint32_t first, uint32_t count) const {
  assert(first <= length_ && count <= length_ - first);
  std::vector<Token> tokens;
  tokens.reserve(count);
  uint32_t at = 0;
  for (const Segment& segment : segments()) {
    if (at + segment.length <= first) {
      at += segment.length;
      continue;
    }
    std::vector<BlockRun> runs;
    append_runs(segment, runs);
    for (const BlockRun& run : runs) {
      for (uint32_t slot = run.from; slot < run.to; ++slot, ++at) {
        if (at >= first && at < first + count) {
          tokens.push_back(run.block->tokens[slot]);
        }
      }
    }
  }
  return tokens;
}

Token Branch::token(uint32_t position) const { return tokens(position, 1).front(); }

Sha256Digest Branch::recipe_hash() const {
  const std::vector<Segment> all = segments();
  return hash_segments(all);
}

}  // namespace thinkd::engine
