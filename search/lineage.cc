#include "search/lineage.h"

#include <algorithm>

namespace thinkd::search {

Lineage::Chunk::~Chunk() {
  discards->tokens += logprobs.size() - kept;
  // A long chain goes link by link, not by recursion.
  std::shared_ptr<Chunk> next = std::move(parent);
  while (next && next.use_count() == 1) {
    std::shared_ptr<Chunk> after = std::move(next->parent);
    next = std::move(after);
  }
}

void Lineage::grow(uint32_t position, std::span<const double> logprobs) {
  if (logprobs.empty()) {
    return;
  }
  const bool follows = last_ && last_.use_count() == 1 && used_ == last_->logprobs.size() &&
                       last_->position + used_ == position;
  if (!follows) {
    auto chunk = std::make_shared<Chunk>();
    chunk->discards = discards_;
    chunk->parent = std::move(last_);
    chunk->parent_used = used_;
    chunk->position = position;
    last_ = std::move(chunk);
    used_ = 0;
  }
  last_->logprobs.insert(last_->logprobs.end(), logprobs.begin(), logprobs.end());
  used_ += static_cast<uint32_t>(logprobs.size());
  tokens_ += static_cast<uint32_t>(logprobs.size());
  for (double logprob : logprobs) {
    sum_ += logprob;
  }
}

void Lineage::truncate(uint32_t length) {
  while (last_ && last_->position >= length) {
    tokens_ -= used_;
    used_ = last_->parent_used;
    last_ = std::shared_ptr<Chunk>(last_->parent);
  }
  if (last_) {
    const uint32_t left = std::min(used_, length - last_->position);
    tokens_ -= used_ - left;
    used_ = left;
  }
  std::vector<const Chunk*> chain;
  std::vector<uint32_t> used;
  for (uint32_t upto = used_;
       const Chunk* chunk = chain.empty() ? last_.get() : chain.back()->parent.get();) {
    chain.push_back(chunk);
    used.push_back(upto);
    upto = chunk->parent_used;
  }
  sum_ = 0;
  for (size_t i = chain.size(); i > 0; --i) {
    for (uint32_t at = 0; at < used[i - 1]; ++at) {
      sum_ += chain[i - 1]->logprobs[at];
    }
  }
}

void Lineage::keep() {
  uint32_t upto = used_;
  for (Chunk* chunk = last_.get(); chunk; chunk = chunk->parent.get()) {
    chunk->kept = std::max(chunk->kept, upto);
    upto = chunk->parent_used;
  }
}

std::vector<std::pair<uint32_t, uint32_t>> Lineage::ranges() const {
  std::vector<std::pair<uint32_t, uint32_t>> runs;
  uint32_t upto = used_;
  for (const Chunk* chunk = last_.get(); chunk; chunk = chunk->parent.get()) {
    if (upto > 0) {
      runs.emplace_back(chunk->position, upto);
    }
    upto = chunk->parent_used;
  }
  std::reverse(runs.begin(), runs.end());
  return runs;
}

}  // namespace thinkd::search
