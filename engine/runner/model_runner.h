#pragma once
// The seam between the step loop and a model. A runner turns a batch of rows into hidden states and
// hidden states into logits; it knows nothing of branches, queries or sampling. The real runner
// runs a transformer; the toy runner in tests replaces this and nothing else.
//
// Contract of bits: a row's hidden state and the keys and values it writes are a function of the
// row and of the stored rows it reads, and of nothing else: not of the other rows in the batch,
// their number or order, the number of threads, or the pages' addresses. Attention folds over
// `reads` in order, one partial result (maximum, sum, weighted values) an entry.
//
// Threads: all calls come from the engine thread; a runner may use threads of its own inside a
// call.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/tokenizer/token.h"

namespace thinkd::engine {

inline constexpr uint32_t kBlockTokens = 32;  // B: rows a block holds, on every ISA and model

// Memory for one block of all layers: page_bytes() bytes, 64-byte aligned.
using PageData = uint8_t*;

// A run of stored rows that a row attends to: slots [from, to) of one page.
struct BlockRead {
  PageData page = nullptr;
  uint32_t from = 0;
  uint32_t to = 0;
  // Added to a stored position to give the position it serves at in the reading branch: the query
  // is rotated to (its own position - shift) before it meets these keys.
  int64_t shift = 0;
};

// One token through the model. Its key and value go to slot `slot` of `page`, rotated to
// `position`; every row of a batch is written, layer by layer, before any row of that batch
// attends.
struct Row {
  Token token = 0;
  int64_t position = 0;  // stored position of the key; reads give the reader's view of it
  PageData page = nullptr;
  uint32_t slot = 0;
  std::span<const BlockRead> reads;  // in fold order; the last entry ends with this row itself
  int64_t query_position = 0;  // the branch position: queries rotate to query_position - shift
};

struct ModelShape {
  uint32_t vocabulary = 0;
  uint32_t width = 0;       // floats in a hidden state
  uint32_t context = 0;     // positions the model was made for
  uint64_t page_bytes = 0;  // one block of all layers
  uint64_t weights_per_row =
      0;  // weights a row multiplies with: the ledger's flops = 2 x this + ...
  uint64_t attention_flops_per_key = 0;  // 4 x layers x heads x head size
  bool shifts = true;  // false where RoPE scaling depends on length: splice is then refused
};

class ModelRunner {
 public:
  virtual ~ModelRunner() = default;

  virtual const ModelShape& shape() const = 0;

  // One pass over the weights for all rows. hidden[i] (width floats, after the final norm) is
  // filled for the i-th index in `wanted`; rows that are not wanted compute no more than their keys
  // need.
  virtual void run(std::span<const Row> rows, std::span<const uint32_t> wanted, float* hidden) = 0;

  // Logits of `count` hidden states: count x vocabulary floats.
  virtual void logits(const float* hidden, uint32_t count, float* out) = 0;

  // Runs task(0) ... task(count - 1), each once, on whatever threads the runner has: for work
  // beside the model that one thread would be too slow for, such as drawing the tokens of a large
  // batch.
  virtual void parallel(uint32_t count, const std::function<void(uint32_t)>& task) {
    for (uint32_t i = 0; i < count; ++i) {
      task(i);
    }
  }

  // What the block hashes are rooted in beside the model file: KV layout and type, compute mode,
  // ISA.
  virtual std::string fingerprint() const = 0;

  // Calls of run() so far that streamed the weights: one a step, however many branches take part.
  virtual uint64_t weight_passes() const { return 0; }
};

}  // namespace thinkd::engine
