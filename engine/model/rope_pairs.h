#pragma once
// Which two elements of a head rotary embedding turns together.

#include <cstdint>

namespace thinkd::engine {

enum class RopePairs : uint8_t {
  adjacent,  // (2i, 2i+1): llama's GGUF files, whose weights are permuted for it
  halves,    // (i, i + rotated/2): qwen2, gemma
};

}  // namespace thinkd::engine
