#include "engine/runner/rope_table.h"

#include <cassert>
#include <cmath>

namespace thinkd::engine {
namespace {

// Rounds toward minus infinity: a query rotated back past the start has a negative position.
int64_t chunk_of(int64_t position, int64_t size) {
  return position >= 0 ? position / size : -((-position + size - 1) / size);
}

}  // namespace

RopeTable::RopeTable(const TransformerConfig& config) {
  const uint32_t pairs = config.rope_dimensions / 2;
  for (uint32_t i = 0; i < pairs; ++i) {
    const double exponent = -2.0 * i / config.rope_dimensions;
    const double factor = config.rope_factors.empty() ? 1.0 : config.rope_factors[i];
    frequencies_.push_back(std::pow(config.rope_base, exponent) / config.rope_scale / factor);
  }
}

void RopeTable::prepare(int64_t position) {
  const int64_t chunk = chunk_of(position, kChunk);
  std::vector<float>& table = chunks_[chunk];
  if (!table.empty()) {
    return;
  }
  table.reserve(kChunk * frequencies_.size() * 2 + 1);
  for (int64_t i = 0; i < kChunk; ++i) {
    const auto at = static_cast<double>(chunk * kChunk + i);
    for (const double frequency : frequencies_) {
      table.push_back(static_cast<float>(std::cos(at * frequency)));
      table.push_back(static_cast<float>(std::sin(at * frequency)));
    }
  }
  table.push_back(0.0f);  // never empty, whatever the number of pairs
}

const float* RopeTable::at(int64_t position) const {
  const int64_t chunk = chunk_of(position, kChunk);
  const auto found = chunks_.find(chunk);
  assert(found != chunks_.end());
  return found->second.data() + (position - chunk * kChunk) * 2 * frequencies_.size();
}

}  // namespace thinkd::engine
