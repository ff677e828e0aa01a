#pragma once
// The arithmetic of a transformer, as a table of functions chosen at run time by instruction set.
//
// Contract of bits: an output element is computed from its own inputs in one fixed order, whatever
// the number of rows in the call and wherever the element lies in a tile. Dot products run in eight
// lanes (element i in lane i mod 8), added at the end as ((0+1)+(2+3))+((4+5)+(6+7)). Two tables
// may differ in the last bits from each other (one fuses multiply and add), so the name of the
// table is part of what a run is a function of. No function allocates, throws or touches libm.
//
// exp: 2^n times a polynomial of degree 7, relative error below 3e-7; 0 below -87.33 (no
// denormals), infinity above 88.37, NaN stays NaN.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/model/rope_pairs.h"
#include "engine/model/tensor_type.h"

namespace thinkd::engine {

inline constexpr uint32_t kLanes = 8;
inline constexpr uint32_t kBlockKeys = 32;  // keys a partial result may hold

// A panel of float rows: row i starts at data + i * stride.
struct Panel {
  const float* data = nullptr;
  uint64_t stride = 0;
  uint32_t rows = 0;
};

// Keys and values of one block as floats, `keys` (1..kBlockKeys) rows of head_size each.
struct KeyBlock {
  const float* keys = nullptr;
  const float* values = nullptr;
  uint32_t count = 0;
  uint32_t head_size = 0;
};

// What attention knows after some blocks: the largest score, the sum of exp(score - max), and where
// the caller keeps the weighted values (head_size floats).
struct AttentionState {
  float max = 0;
  float sum = 0;
};

struct Kernels {
  std::string_view name;  // "avx2", "portable"

  // dequantize(), bit for bit.
  void (*expand)(TensorType type, const uint8_t* blocks, uint64_t count, float* out);
  // out[r * out_stride + w] = weights row w . x row r, over `length` elements.
  void (*dots)(const Panel& weights, const Panel& x, uint32_t length, float* out,
               uint64_t out_stride);
  // out = x / sqrt(mean(x^2) + epsilon) * weight.
  void (*rms_norm)(const float* x, const float* weight, float epsilon, uint32_t length, float* out);
  // Rotates the first `rotated` elements by (cos, sin) pairs, copies the rest to head_size; out !=
  // x.
  void (*rotate)(const float* x, const float* cos_sin, RopePairs pairs, uint32_t rotated,
                 uint32_t head_size, float* out);
  void (*silu_multiply)(float* gate, const float* up, uint64_t length);  // gate = silu(gate) * up
  void (*add)(float* x, const float* y, uint64_t length);                // x += y
  void (*exp)(const float* x, uint64_t length, float* out);
  // One block's partial result for one query (scaled by `scale`): values to `out`.
  AttentionState (*attend)(const KeyBlock& block, const float* query, float scale, float* out);
  // Folds a later partial result into an earlier one.
  AttentionState (*merge)(AttentionState state, float* values, AttentionState later,
                          const float* later_values, uint32_t head_size);
  // values *= 1 / sum.
  void (*finish)(AttentionState state, float* values, uint32_t head_size);
  void (*from_half)(const uint16_t* x, uint64_t length, float* out);
  void (*to_half)(const float* x, uint64_t length, uint16_t* out);
};

const Kernels& portable_kernels();
const Kernels* avx2_kernels();  // null where this build or this machine has none

// "" or "auto": the best this machine runs. The error names what is unknown or missing.
Result<const Kernels*> find_kernels(std::string_view isa);
std::vector<const Kernels*> all_kernels();  // those that run here

}  // namespace thinkd::engine
