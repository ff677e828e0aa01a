#pragma once
// Cosines and sines of rotary embedding (Su et al. 2021, "RoFormer") for whole positions, computed
// in double from the exact position and rounded once. Filled by prepare() before a step; at() may
// then be called by any thread.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "engine/model/transformer.h"

namespace thinkd::engine {

class RopeTable {
 public:
  explicit RopeTable(const TransformerConfig& config);

  void prepare(int64_t position);
  // (cos, sin) of each pair; the position was prepared.
  const float* at(int64_t position) const;

 private:
  static constexpr int64_t kChunk = 64;  // positions computed together

  std::vector<double> frequencies_;
  std::unordered_map<int64_t, std::vector<float>> chunks_;
};

}  // namespace thinkd::engine
