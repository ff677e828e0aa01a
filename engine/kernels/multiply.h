#pragma once
// Matrix products: quantised weight rows by float activation rows. Weights are read once a call and
// expanded to floats a tile at a time, the tile staying in the first cache level for all activation
// rows. Products given together share one parallel region.
//
// Called by one thread at a time, which is the pool's caller.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/kernels/thread_pool.h"

namespace thinkd::engine {

// out[r * out_stride + w] = weights row w . x row r.
struct Product {
  TensorType type = TensorType::f32;
  const uint8_t* weights = nullptr;
  uint32_t weight_rows = 0;
  uint32_t length = 0;       // columns of the weights, floats of an activation row
  const float* x = nullptr;  // activation rows, `length` apart
  uint32_t x_rows = 0;
  float* out = nullptr;
  uint64_t out_stride = 0;
};

class Multiplier {
 public:
  Multiplier(const Kernels& kernels, ThreadPool& pool);

  void run(std::span<const Product> products);

 private:
  struct Chunk {
    uint32_t product = 0;
    uint32_t first = 0;  // weight rows [first, first + count)
    uint32_t count = 0;
  };

  void run_chunk(const Product& product, const Chunk& chunk, std::vector<float>& tile) const;

  const Kernels& kernels_;
  ThreadPool& pool_;
  std::vector<std::vector<float>> tiles_;  // one a worker
  std::vector<Chunk> chunks_;              // of the call at hand
};

}  // namespace thinkd::engine
