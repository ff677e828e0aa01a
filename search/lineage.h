#pragma once
// What a branch has generated, shared with its parent and children: an immutable-past chain of
// chunks of generated tokens. From it come the text a verifier judges, the log-prob sums, the
// length of the longest branch, and how many generated tokens were thrown away. One thread (the
// run's).

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace thinkd::search {

// Told how many generated tokens no branch holds any more and no candidate had.
struct Discards {
  uint64_t tokens = 0;
};

class Lineage {
 public:
  explicit Lineage(std::shared_ptr<Discards> discards) : discards_(std::move(discards)) {}

  // `logprobs.size()` tokens were generated; the first stands at `position` in the branch.
  void grow(uint32_t position, std::span<const double> logprobs);
  // Forgets generated tokens at positions from `length` on.
  void truncate(uint32_t length);
  // A candidate was emitted with all of this: none of it is ever discarded.
  void keep();

  uint32_t tokens() const { return tokens_; }
  double sum_logprob() const { return sum_; }  // left to right
  // Runs of positions that were generated, in order: (first, count).
  std::vector<std::pair<uint32_t, uint32_t>> ranges() const;

 private:
  struct Chunk {
    ~Chunk();
    std::shared_ptr<Discards> discards;
    std::shared_ptr<Chunk> parent;
    uint32_t parent_used = 0;
    uint32_t position = 0;
    std::vector<double> logprobs;
    uint32_t kept = 0;
  };

  std::shared_ptr<Discards> discards_;
  std::shared_ptr<Chunk> last_;
  uint32_t used_ = 0;  // of last_
  uint32_t tokens_ = 0;
  double sum_ = 0;
};

}  // namespace thinkd::search
