#pragma once
// A learned scorer: it reads a branch's last state instead of its text, and gives the chance that
// what was written so far can still end right. One hidden layer over the state after the final
// norm, as the step scorer of STEP (arXiv 2601.09093); here with SiLU between the layers.
//
//   score = sigmoid(w2 . silu(w1 . state + b1) + b2)
//
// The file is a GGUF beside the model, <model>.scorer.gguf, of general.architecture
// "thinkd-scorer", made for one model file:
//   thinkd.scorer.model_sha256   text, hex
//   w1 [hidden, width], b1 [hidden], w2 [1, hidden], b2 [1]; rows first, all F32
//
// Immutable after open(); any thread.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thinkd::verifiers {

class StateScorer {
 public:
  // "m.gguf" -> "m.scorer.gguf"
  static std::string path_beside(std::string_view model_path);

  // Errors: not_found, io; corrupt names the key or tensor; conflict: made for another model, names
  // both; limit: wider than limits::kScorerWidth.
  static Result<std::shared_ptr<const StateScorer>> open(const std::string& path,
                                                         std::string_view model_sha256,
                                                         uint32_t width);

  // From 0 to 1. A state that is not finite, or not `width` long, scores 0.
  double score(std::span<const float> state) const;

  const std::string& sha256() const { return sha256_; }  // hex; of the scorer's file

 private:
  std::string sha256_;
  uint32_t width_ = 0;
  std::vector<float> w1_, b1_, w2_;
  float b2_ = 0;
};

}  // namespace thinkd::verifiers
