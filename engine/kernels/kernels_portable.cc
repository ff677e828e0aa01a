#include <algorithm>
#include <bit>
#include <limits>

#include "engine/kernels/exp_constants.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/plain_kernels.h"

namespace thinkd::engine {
namespace plain {

float exp_one(float x) {
  if (x != x) {
    return x;
  }
  if (x < kExpLowest) {
    return 0.0f;
  }
  if (x > kExpHighest) {
    return std::numeric_limits<float>::infinity();
  }
  constexpr float kRounder = 12582912.0f;  // 1.5 x 2^23: adding it rounds to an integer
  const float n = (x * kLog2e + kRounder) - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  float p = kExpTerms[0];
  for (int i = 1; i < 8; ++i) {
    p = p * r + kExpTerms[i];
  }
  const auto power = static_cast<uint32_t>(static_cast<int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(power);
}

void rotate(const float* x, const float* cos_sin, RopePairs pairs, uint32_t rotated,
            uint32_t head_size, float* out) {
  const uint32_t half = rotated / 2;
  const bool adjacent = pairs == RopePairs::adjacent;
  for (uint32_t i = 0; i < half; ++i) {
    const uint32_t a = adjacent ? 2 * i : i;
    const uint32_t b = adjacent ? 2 * i + 1 : i + half;
    const float cosine = cos_sin[2 * i];
    const float sine = cos_sin[2 * i + 1];
    out[a] = x[a] * cosine - x[b] * sine;
    out[b] = x[a] * sine + x[b] * cosine;
  }
  std::copy(x + rotated, x + head_size, out + rotated);
}

}  // namespace plain

namespace {

struct Lanes {
  float at[kLanes] = {};

  float sum() const {
    return ((at[0] + at[1]) + (at[2] + at[3])) + ((at[4] + at[5]) + (at[6] + at[7]));
  }
};

Lanes products(const float* a, const float* b, uint32_t length) {
  Lanes lanes;
  uint32_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      lanes.at[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (; i < length; ++i) {
    lanes.at[i % kLanes] += a[i] * b[i];
  }
  return lanes;
}

void dots(const Panel& weights, const Panel& x, uint32_t length, float* out, uint64_t out_stride) {
  for (uint32_t r = 0; r < x.rows; ++r) {
    for (uint32_t w = 0; w < weights.rows; ++w) {
      out[r * out_stride + w] =
          products(weights.data + w * weights.stride, x.data + r * x.stride, length).sum();
    }
  }
}

void rms_norm(const float* x, const float* weight, float epsilon, uint32_t length, float* out) {
  const float squares = products(x, x, length).sum();
  const float scale = 1.0f / __builtin_sqrtf(squares / static_cast<float>(length) + epsilon);
  for (uint32_t i = 0; i < length; ++i) {
    out[i] = x[i] * scale * weight[i];
  }
}

void silu_multiply(float* gate, const float* up, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) {
    gate[i] = gate[i] / (1.0f + plain::exp_one(-gate[i])) * up[i];
  }
}

void add(float* x, const float* y, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) {
    x[i] += y[i];
  }
}

void exp(const float* x, uint64_t length, float* out) {
  for (uint64_t i = 0; i < length; ++i) {
    out[i] = plain::exp_one(x[i]);
  }
}

AttentionState attend(const KeyBlock& block, const float* query, float scale, float* out) {
  float weights[kBlockKeys];
  float max = -std::numeric_limits<float>::infinity();
  for (uint32_t j = 0; j < block.count; ++j) {
    const float* key = block.keys + uint64_t{j} * block.head_size;
    weights[j] = products(query, key, block.head_size).sum() * scale;
    max = std::max(max, weights[j]);
  }
  Lanes sums;
  for (uint32_t j = 0; j < block.count; ++j) {
    weights[j] = plain::exp_one(weights[j] - max);
    sums.at[j % kLanes] += weights[j];
  }
  std::fill(out, out + block.head_size, 0.0f);
  for (uint32_t j = 0; j < block.count; ++j) {
    const float* value = block.values + uint64_t{j} * block.head_size;
    for (uint32_t d = 0; d < block.head_size; ++d) {
      out[d] += weights[j] * value[d];
    }
  }
  return {max, sums.sum()};
}

AttentionState merge(AttentionState state, float* values, AttentionState later,
                     const float* later_values, uint32_t head_size) {
  const float max = std::max(state.max, later.max);
  const float a = plain::exp_one(state.max - max);
  const float b = plain::exp_one(later.max - max);
  for (uint32_t d = 0; d < head_size; ++d) {
    values[d] = values[d] * a + later_values[d] * b;
  }
  return {max, state.sum * a + later.sum * b};
}

void finish(AttentionState state, float* values, uint32_t head_size) {
  const float scale = 1.0f / state.sum;
  for (uint32_t d = 0; d < head_size; ++d) {
    values[d] *= scale;
  }
}

void from_half(const uint16_t* x, uint64_t length, float* out) {
  for (uint64_t i = 0; i < length; ++i) {
    out[i] = half_to_float(x[i]);
  }
}

void to_half(const float* x, uint64_t length, uint16_t* out) {
  for (uint64_t i = 0; i < length; ++i) {
    out[i] = float_to_half(x[i]);
  }
}

constexpr Kernels kPortable = {"portable",    dequantize, dots,   rms_norm, plain::rotate,
                               silu_multiply, add,        exp,    attend,   merge,
                               finish,        from_half,  to_half};

}  // namespace

const Kernels& portable_kernels() { return kPortable; }

}  // namespace thinkd::engine
