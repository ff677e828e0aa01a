// Compiled with -mavx2 -mfma -mf16c and run only where kernels.cc found these. It uses no templates
// or inline functions of other headers, so that no code compiled here serves a machine without
// AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include "engine/kernels/exp_constants.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/plain_kernels.h"

namespace thinkd::engine {

const Kernels& avx2_table();

namespace {

__m256i first_lanes(uint32_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// The sums of four vectors' lanes, each as ((0+1)+(2+3))+((4+5)+(6+7)).
__m128 sum_four(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
  return _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1));
}

float sum_one(__m256 a) { return _mm_cvtss_f32(sum_four(a, a, a, a)); }

__m256 exp_eight(__m256 x) {
  // Operand order: min and max hand on their second operand where one is NaN.
  const __m256 clamped =
      _mm256_max_ps(_mm256_set1_ps(kExpLowest), _mm256_min_ps(_mm256_set1_ps(kExpHighest), x));
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(clamped, _mm256_set1_ps(kLog2e)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2High), clamped);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2Low), r);
  __m256 p = _mm256_set1_ps(kExpTerms[0]);
  for (int i = 1; i < 8; ++i) {
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(kExpTerms[i]));
  }
  const __m256i power =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  p = _mm256_mul_ps(p, _mm256_castsi256_ps(power));
  const __m256 low = _mm256_cmp_ps(x, _mm256_set1_ps(kExpLowest), _CMP_LT_OQ);
  const __m256 high = _mm256_cmp_ps(x, _mm256_set1_ps(kExpHighest), _CMP_GT_OQ);
  p = _mm256_andnot_ps(low, p);
  return _mm256_blendv_ps(p, _mm256_set1_ps(__builtin_inff()), high);
}

// A scalar goes through the same lanes as a vector, so that both have the same bits.
float exp_one(float x) { return _mm256_cvtss_f32(exp_eight(_mm256_set1_ps(x))); }

void expand_q4_0(const uint8_t* blocks, uint64_t count, float* out) {
  const __m128i nibble = _mm_set1_epi8(15);
  const __m128i eight = _mm_set1_epi8(8);
  for (uint64_t done = 0; done < count; done += 32, blocks += 18, out += 32) {
    const __m256 scale =
        _mm256_set1_ps(_cvtsh_ss(static_cast<uint16_t>(blocks[0] | blocks[1] << 8)));
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 2));
    const __m128i low = _mm_sub_epi8(_mm_and_si128(bytes, nibble), eight);
    const __m128i high = _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), nibble), eight);
    const __m128i quarters[4] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(quarters[i]));
      _mm256_storeu_ps(out + 8 * i, _mm256_mul_ps(scale, q));
    }
  }
}

void expand_q4_1(const uint8_t* blocks, uint64_t count, float* out) {
  const __m128i nibble = _mm_set1_epi8(15);
  for (uint64_t done = 0; done < count; done += 32, blocks += 20, out += 32) {
    const __m256 scale =
        _mm256_set1_ps(_cvtsh_ss(static_cast<uint16_t>(blocks[0] | blocks[1] << 8)));
    const __m256 least =
        _mm256_set1_ps(_cvtsh_ss(static_cast<uint16_t>(blocks[2] | blocks[3] << 8)));
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 4));
    const __m128i low = _mm_and_si128(bytes, nibble);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble);
    const __m128i quarters[4] = {low, _mm_srli_si128(low, 8), high, _mm_srli_si128(high, 8)};
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      // scale x q is exact (11 and 4 bits), so a fused add rounds as dequantize() does.
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(quarters[i]));
      _mm256_storeu_ps(out + 8 * i, _mm256_fmadd_ps(scale, q, least));
    }
  }
}

void expand_q8_0(const uint8_t* blocks, uint64_t count, float* out) {
  for (uint64_t done = 0; done < count; done += 32, blocks += 34, out += 32) {
    const __m256 scale =
        _mm256_set1_ps(_cvtsh_ss(static_cast<uint16_t>(blocks[0] | blocks[1] << 8)));
#pragma GCC unroll 8
    for (int i = 0; i < 4; ++i) {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(blocks + 2 + 8 * i));
      const __m256 q = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
      _mm256_storeu_ps(out + 8 * i, _mm256_mul_ps(scale, q));
    }
  }
}

void from_half(const uint16_t* x, uint64_t length, float* out) {
  uint64_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(half));
  }
  for (; i < length; ++i) {
    out[i] = half_to_float(x[i]);
  }
}

void to_half(const float* x, uint64_t length, uint16_t* out) {
  uint64_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), half);
  }
  for (; i < length; ++i) {
    out[i] = float_to_half(x[i]);
  }
}

void expand(TensorType type, const uint8_t* blocks, uint64_t count, float* out) {
  switch (type) {
    case TensorType::f16:
      return from_half(reinterpret_cast<const uint16_t*>(blocks), count, out);
    case TensorType::q4_0:
      return expand_q4_0(blocks, count, out);
    case TensorType::q4_1:
      return expand_q4_1(blocks, count, out);
    case TensorType::q8_0:
      return expand_q8_0(blocks, count, out);
    default:
      return dequantize(type, blocks, count, out);
  }
}

// W weight rows by R activation rows in registers; every pair's chain of sums is the same for all
// W, R.
template <int W, int R>
void dots_block(const float* weights, uint64_t weight_stride, const float* x, uint64_t x_stride,
                uint32_t length, float* out, uint64_t out_stride) {
  __m256 sums[W][R];
#pragma GCC unroll 8
  for (int w = 0; w < W; ++w) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      sums[w][r] = _mm256_setzero_ps();
    }
  }
  uint32_t k = 0;
  for (; k + kLanes <= length; k += kLanes) {
    __m256 row[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      row[r] = _mm256_loadu_ps(x + r * x_stride + k);
    }
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) {
      const __m256 weight = _mm256_loadu_ps(weights + w * weight_stride + k);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        sums[w][r] = _mm256_fmadd_ps(weight, row[r], sums[w][r]);
      }
    }
  }
  if (k < length) {
    const __m256i mask = first_lanes(length - k);
#pragma GCC unroll 8
    for (int w = 0; w < W; ++w) {
      const __m256 weight = _mm256_maskload_ps(weights + w * weight_stride + k, mask);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const __m256 row = _mm256_maskload_ps(x + r * x_stride + k, mask);
        sums[w][r] = _mm256_fmadd_ps(weight, row, sums[w][r]);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    if constexpr (W == 1) {
      out[r * out_stride] = sum_one(sums[0][r]);
    } else {
#pragma GCC unroll 8
      for (int w = 0; w < W; w += 4) {
        _mm_storeu_ps(out + r * out_stride + w,
                      sum_four(sums[w][r], sums[w + 1][r], sums[w + 2][r], sums[w + 3][r]));
      }
    }
  }
}

template <int W, int R>
void dots_rows(const Panel& weights, const float* x, uint64_t x_stride, uint32_t length, float* out,
               uint64_t out_stride) {
  uint32_t w = 0;
  for (; w + W <= weights.rows; w += W) {
    dots_block<W, R>(weights.data + w * weights.stride, weights.stride, x, x_stride, length,
                     out + w, out_stride);
  }
  if constexpr (W > 4) {
    for (; w + 4 <= weights.rows; w += 4) {
      dots_block<4, R>(weights.data + w * weights.stride, weights.stride, x, x_stride, length,
                       out + w, out_stride);
    }
  }
  for (; w < weights.rows; ++w) {
    dots_block<1, R>(weights.data + w * weights.stride, weights.stride, x, x_stride, length,
                     out + w, out_stride);
  }
}

void dots(const Panel& weights, const Panel& x, uint32_t length, float* out, uint64_t out_stride) {
  uint32_t r = 0;
  for (; r + 3 <= x.rows; r += 3) {
    dots_rows<4, 3>(weights, x.data + r * x.stride, x.stride, length, out + r * out_stride,
                    out_stride);
  }
  if (r + 2 == x.rows) {
    dots_rows<4, 2>(weights, x.data + r * x.stride, x.stride, length, out + r * out_stride,
                    out_stride);
  } else if (r + 1 == x.rows) {
    dots_rows<8, 1>(weights, x.data + r * x.stride, x.stride, length, out + r * out_stride,
                    out_stride);
  }
}

void rms_norm(const float* x, const float* weight, float epsilon, uint32_t length, float* out) {
  float squares = 0;
  dots_block<1, 1>(x, 0, x, 0, length, &squares, 0);
  const float scale = 1.0f / __builtin_sqrtf(squares / static_cast<float>(length) + epsilon);
  for (uint32_t i = 0; i < length; ++i) {
    out[i] = x[i] * scale * weight[i];
  }
}

void exp(const float* x, uint64_t length, float* out) {
  uint64_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    _mm256_storeu_ps(out + i, exp_eight(_mm256_loadu_ps(x + i)));
  }
  for (; i < length; ++i) {
    out[i] = exp_one(x[i]);
  }
}

void silu_multiply(float* gate, const float* up, uint64_t length) {
  const __m256 one = _mm256_set1_ps(1.0f);
  const __m256 sign = _mm256_set1_ps(-0.0f);
  uint64_t i = 0;
  for (; i + kLanes <= length; i += kLanes) {
    const __m256 x = _mm256_loadu_ps(gate + i);
    const __m256 divisor = _mm256_add_ps(one, exp_eight(_mm256_xor_ps(x, sign)));
    _mm256_storeu_ps(gate + i, _mm256_mul_ps(_mm256_div_ps(x, divisor), _mm256_loadu_ps(up + i)));
  }
  for (; i < length; ++i) {
    gate[i] = gate[i] / (1.0f + exp_one(-gate[i])) * up[i];
  }
}

void add(float* x, const float* y, uint64_t length) {
  for (uint64_t i = 0; i < length; ++i) {
    x[i] += y[i];
  }
}

// The scores of keys [first, first + 8); keys past the end are read again and masked by the caller.
__m256 scores_of_eight(const KeyBlock& block, uint32_t first, const float* query) {
  const float* keys[8];
#pragma GCC unroll 8
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t key = first + i < block.count ? first + i : block.count - 1;
    keys[i] = block.keys + uint64_t{key} * block.head_size;
  }
  __m256 sums[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    sums[i] = _mm256_setzero_ps();
  }
  uint32_t d = 0;
  for (; d + kLanes <= block.head_size; d += kLanes) {
    const __m256 q = _mm256_loadu_ps(query + d);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      sums[i] = _mm256_fmadd_ps(q, _mm256_loadu_ps(keys[i] + d), sums[i]);
    }
  }
  if (d < block.head_size) {
    const __m256i mask = first_lanes(block.head_size - d);
    const __m256 q = _mm256_maskload_ps(query + d, mask);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      sums[i] = _mm256_fmadd_ps(q, _mm256_maskload_ps(keys[i] + d, mask), sums[i]);
    }
  }
  return _mm256_set_m128(sum_four(sums[4], sums[5], sums[6], sums[7]),
                         sum_four(sums[0], sums[1], sums[2], sums[3]));
}

// Weighted values of 8 * N columns.
template <int N>
void weigh(const float* weights, const float* values, uint32_t count, uint32_t stride, float* out) {
  __m256 sums[N];
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    sums[i] = _mm256_setzero_ps();
  }
  for (uint32_t j = 0; j < count; ++j, values += stride) {
    const __m256 weight = _mm256_broadcast_ss(weights + j);
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) {
      sums[i] = _mm256_fmadd_ps(weight, _mm256_loadu_ps(values + 8 * i), sums[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    _mm256_storeu_ps(out + 8 * i, sums[i]);
  }
}

AttentionState attend(const KeyBlock& block, const float* query, float scale, float* out) {
  alignas(32) float weights[kBlockKeys];
  const __m256 lowest = _mm256_set1_ps(-__builtin_inff());
  __m256 best = lowest;
  for (uint32_t j = 0; j < block.count; j += kLanes) {
    __m256 scores = _mm256_mul_ps(scores_of_eight(block, j, query), _mm256_set1_ps(scale));
    scores = _mm256_blendv_ps(lowest, scores, _mm256_castsi256_ps(first_lanes(block.count - j)));
    best = _mm256_max_ps(best, scores);
    _mm256_store_ps(weights + j, scores);
  }
  __m128 top = _mm_max_ps(_mm256_castps256_ps128(best), _mm256_extractf128_ps(best, 1));
  top = _mm_max_ps(top, _mm_movehl_ps(top, top));
  top = _mm_max_ss(top, _mm_movehdup_ps(top));
  const float max = _mm_cvtss_f32(top);
  __m256 sums = _mm256_setzero_ps();
  for (uint32_t j = 0; j < block.count; j += kLanes) {
    const __m256 p = exp_eight(_mm256_sub_ps(_mm256_load_ps(weights + j), _mm256_set1_ps(max)));
    sums = _mm256_add_ps(sums, p);
    _mm256_store_ps(weights + j, p);
  }
  uint32_t d = 0;
  for (; d + 64 <= block.head_size; d += 64) {
    weigh<8>(weights, block.values + d, block.count, block.head_size, out + d);
  }
  for (; d + 8 <= block.head_size; d += 8) {
    weigh<1>(weights, block.values + d, block.count, block.head_size, out + d);
  }
  for (; d < block.head_size; ++d) {
    float sum = 0;
    for (uint32_t j = 0; j < block.count; ++j) {
      sum = __builtin_fmaf(weights[j], block.values[uint64_t{j} * block.head_size + d], sum);
    }
    out[d] = sum;
  }
  return {max, sum_one(sums)};
}

AttentionState merge(AttentionState state, float* values, AttentionState later,
                     const float* later_values, uint32_t head_size) {
  const float max = state.max > later.max ? state.max : later.max;
  const float a = exp_one(state.max - max);
  const float b = exp_one(later.max - max);
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

constexpr Kernels kAvx2 = {"avx2", expand, dots,  rms_norm, plain::rotate, silu_multiply, add,
                           exp,    attend, merge, finish,   from_half,     to_half};

}  // namespace

const Kernels& avx2_table() { return kAvx2; }

}  // namespace thinkd::engine

#endif
