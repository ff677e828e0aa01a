#include "engine/kernels/multiply.h"

#include <algorithm>

namespace thinkd::engine {
namespace {

constexpr uint32_t kTileFloats = 8192;  // 32 KiB, within a first-level cache beside a few rows of x
constexpr uint32_t kChunkFloats = 32768;  // enough work to be worth a claim

// A multiple of the rows that kernels take at once: 8 where that fits, else 4.
uint32_t rows_within(uint32_t floats, uint32_t length) {
  const uint32_t rows = floats / length;
  return std::clamp(rows >= 8 ? rows / 8 * 8 : 4, 4u, 64u);
}

}  // namespace

Multiplier::Multiplier(const Kernels& kernels, ThreadPool& pool)
    : kernels_(kernels), pool_(pool), tiles_(pool.threads()) {}

void Multiplier::run(std::span<const Product> products) {
  chunks_.clear();
  uint32_t longest = 0;
  for (uint32_t p = 0; p < products.size(); ++p) {
    const Product& product = products[p];
    if (product.x_rows == 0) {
      continue;
    }
    longest = std::max(longest, product.length);
    const uint32_t step = rows_within(kChunkFloats, product.length);
    for (uint32_t first = 0; first < product.weight_rows; first += step) {
      chunks_.push_back({p, first, std::min(step, product.weight_rows - first)});
    }
  }
  const uint64_t tile = std::max<uint64_t>(kTileFloats, uint64_t{4} * longest);
  for (std::vector<float>& floats : tiles_) {
    if (floats.size() < tile) {
      floats.resize(tile);
    }
  }
  pool_.parallel_for(static_cast<uint32_t>(chunks_.size()), [&](uint32_t index, uint32_t worker) {
    run_chunk(products[chunks_[index].product], chunks_[index], tiles_[worker]);
  });
}

void Multiplier::run_chunk(const Product& product, const Chunk& chunk,
                           std::vector<float>& tile) const {
  const TensorTypeInfo& type = info(product.type);
  const uint64_t row_bytes = uint64_t{product.length} / type.block_elements * type.block_bytes;
  const uint32_t step = rows_within(kTileFloats, product.length);
  for (uint32_t done = 0; done < chunk.count; done += step) {
    const uint32_t rows = std::min(step, chunk.count - done);
    const uint32_t first = chunk.first + done;
    kernels_.expand(product.type, product.weights + first * row_bytes,
                    uint64_t{rows} * product.length, tile.data());
    kernels_.dots({tile.data(), product.length, rows}, {product.x, product.length, product.x_rows},
                  product.length, product.out + first, product.out_stride);
  }
}

}  // namespace thinkd::engine
