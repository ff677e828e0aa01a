#include "engine/model/tensor_type.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

namespace thinkd::engine {
namespace {

struct Entry {
  TensorType type;
  TensorTypeInfo info;
};

constexpr std::array kTypes = {
    Entry{TensorType::f32, {"F32", 1, 4}},       Entry{TensorType::f16, {"F16", 1, 2}},
    Entry{TensorType::bf16, {"BF16", 1, 2}},     Entry{TensorType::q4_0, {"Q4_0", 32, 18}},
    Entry{TensorType::q4_1, {"Q4_1", 32, 20}},   Entry{TensorType::q5_0, {"Q5_0", 32, 22}},
    Entry{TensorType::q5_1, {"Q5_1", 32, 24}},   Entry{TensorType::q8_0, {"Q8_0", 32, 34}},
    Entry{TensorType::q4_k, {"Q4_K", 256, 144}}, Entry{TensorType::q5_k, {"Q5_K", 256, 176}},
    Entry{TensorType::q6_k, {"Q6_K", 256, 210}},
};

uint16_t load_u16(const uint8_t* at) {
  uint16_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

uint32_t load_u32(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

float load_half(const uint8_t* at) { return half_to_float(load_u16(at)); }

// One block each. In the 32-element types the low nibbles are elements 0..15, the high ones 16..31.

void expand_q4_0(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  for (int i = 0; i < 16; ++i) {
    const uint8_t byte = block[2 + i];
    out[i] = scale * static_cast<float>((byte & 15) - 8);
    out[i + 16] = scale * static_cast<float>((byte >> 4) - 8);
  }
}

void expand_q4_1(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  const float low = load_half(block + 2);
  for (int i = 0; i < 16; ++i) {
    const uint8_t byte = block[4 + i];
    out[i] = scale * static_cast<float>(byte & 15) + low;
    out[i + 16] = scale * static_cast<float>(byte >> 4) + low;
  }
}

// Bit i of `fifth` is bit 4 of element i.
void expand_q5_0(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  const uint32_t fifth = load_u32(block + 2);
  for (int i = 0; i < 16; ++i) {
    const uint8_t byte = block[6 + i];
    const int first = (byte & 15) | static_cast<int>(((fifth >> i) & 1) << 4);
    const int second = (byte >> 4) | static_cast<int>(((fifth >> (i + 16)) & 1) << 4);
    out[i] = scale * static_cast<float>(first - 16);
    out[i + 16] = scale * static_cast<float>(second - 16);
  }
}

void expand_q5_1(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  const float low = load_half(block + 2);
  const uint32_t fifth = load_u32(block + 4);
  for (int i = 0; i < 16; ++i) {
    const uint8_t byte = block[8 + i];
    const int first = (byte & 15) | static_cast<int>(((fifth >> i) & 1) << 4);
    const int second = (byte >> 4) | static_cast<int>(((fifth >> (i + 16)) & 1) << 4);
    out[i] = scale * static_cast<float>(first) + low;
    out[i + 16] = scale * static_cast<float>(second) + low;
  }
}

void expand_q8_0(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(static_cast<int8_t>(block[2 + i]));
  }
}

// The 6-bit scale and minimum of sub-block j (0..7) of a Q4_K or Q5_K block, packed in 12 bytes:
// the first four pairs lie in the low six bits of bytes 0..3 and 4..7; the last four have their low
// nibbles in bytes 8..11 and their two high bits on top of the first four.
struct ScaleMin {
  uint8_t scale;
  uint8_t low;
};

ScaleMin scale_min(const uint8_t* packed, int j) {
  if (j < 4) {
    return {static_cast<uint8_t>(packed[j] & 63), static_cast<uint8_t>(packed[j + 4] & 63)};
  }
  return {static_cast<uint8_t>((packed[j + 4] & 15) | ((packed[j - 4] >> 6) << 4)),
          static_cast<uint8_t>((packed[j + 4] >> 4) | ((packed[j] >> 6) << 4))};
}

// f16 scale, f16 minimum, 12 bytes of sub-block scales, then 4 x 32 bytes whose low nibbles are one
// sub-block of 32 and whose high nibbles are the next.
void expand_q4_k(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  const float low = load_half(block + 2);
  const uint8_t* quants = block + 16;
  for (int j = 0; j < 8; ++j) {
    const ScaleMin sub = scale_min(block + 4, j);
    const float sub_scale = scale * static_cast<float>(sub.scale);
    const float sub_low = low * static_cast<float>(sub.low);
    const uint8_t* bytes = quants + 32 * (j / 2);
    for (int i = 0; i < 32; ++i) {
      const int q = (j & 1) != 0 ? bytes[i] >> 4 : bytes[i] & 15;
      out[32 * j + i] = sub_scale * static_cast<float>(q) - sub_low;
    }
  }
}

// As Q4_K with 32 more bytes before the nibbles: bit j of byte i is bit 4 of element i of sub-block
// j.
void expand_q5_k(const uint8_t* block, float* out) {
  const float scale = load_half(block);
  const float low = load_half(block + 2);
  const uint8_t* fifth = block + 16;
  const uint8_t* quants = block + 48;
  for (int j = 0; j < 8; ++j) {
    const ScaleMin sub = scale_min(block + 4, j);
    const float sub_scale = scale * static_cast<float>(sub.scale);
    const float sub_low = low * static_cast<float>(sub.low);
    const uint8_t* bytes = quants + 32 * (j / 2);
    for (int i = 0; i < 32; ++i) {
      const int nibble = (j & 1) != 0 ? bytes[i] >> 4 : bytes[i] & 15;
      const int q = nibble | (((fifth[i] >> j) & 1) << 4);
      out[32 * j + i] = sub_scale * static_cast<float>(q) - sub_low;
    }
  }
}

// 128 bytes of low nibbles, 64 bytes of high bit pairs, 16 signed scales (one for 16 elements), f16
// scale. Each half (128 elements) has 64 low bytes and 32 high bytes, read as four runs of 32.
void expand_q6_k(const uint8_t* block, float* out) {
  const float scale = load_half(block + 208);
  for (int half = 0; half < 2; ++half) {
    const uint8_t* lows = block + 64 * half;
    const uint8_t* highs = block + 128 + 32 * half;
    const uint8_t* scales = block + 192 + 8 * half;
    for (int run = 0; run < 4; ++run) {
      for (int i = 0; i < 32; ++i) {
        const uint8_t byte = lows[32 * (run & 1) + i];
        const int nibble = run < 2 ? byte & 15 : byte >> 4;
        const int q = nibble | (((highs[i] >> (2 * run)) & 3) << 4);
        const auto sub = static_cast<int8_t>(scales[2 * run + i / 16]);
        out[128 * half + 32 * run + i] =
            scale * static_cast<float>(sub) * static_cast<float>(q - 32);
      }
    }
  }
}

using Expand = void (*)(const uint8_t* block, float* out);

void expand_blocks(Expand expand, const TensorTypeInfo& type, const uint8_t* blocks, uint64_t count,
                   float* out) {
  for (uint64_t done = 0; done < count; done += type.block_elements) {
    expand(blocks, out + done);
    blocks += type.block_bytes;
  }
}

}  // namespace

std::optional<TensorType> tensor_type(uint32_t gguf_number) {
  for (const Entry& entry : kTypes) {
    if (static_cast<uint32_t>(entry.type) == gguf_number) {
      return entry.type;
    }
  }
  return std::nullopt;
}

const TensorTypeInfo& info(TensorType type) {
  for (const Entry& entry : kTypes) {
    if (entry.type == type) {
      return entry.info;
    }
  }
  assert(false && "not a TensorType");
  return kTypes[0].info;
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 31;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 31) {
    return std::bit_cast<float>(sign | 0x7f800000 | (fraction << 13));
  }
  if (exponent == 0) {
    // fraction x 2^-24, exact in a float
    const float value = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return static_cast<uint16_t>(sign | 0x7e00 | ((magnitude >> 13) & 0x3ff));
  }
  if (magnitude >= 0x477ff000) {  // 65520 and more round to infinity
    return static_cast<uint16_t>(sign | 0x7c00);
  }
  if (magnitude <
      0x38800000) {  // below 2^-14: adding 0.5 leaves the fraction x 2^24, rounded, below
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  const uint32_t rounded = magnitude + 0xfff + odd;
  return static_cast<uint16_t>(sign | ((rounded >> 13) - (112 << 10)));
}

void dequantize(TensorType type, const uint8_t* blocks, uint64_t count, float* out) {
  const TensorTypeInfo& layout = info(type);
  assert(count % layout.block_elements == 0);
  switch (type) {
    case TensorType::f32:
      std::memcpy(out, blocks, count * sizeof(float));
      return;
    case TensorType::f16:
      for (uint64_t i = 0; i < count; ++i) {
        out[i] = load_half(blocks + 2 * i);
      }
      return;
    case TensorType::bf16:
      for (uint64_t i = 0; i < count; ++i) {
        out[i] = std::bit_cast<float>(static_cast<uint32_t>(load_u16(blocks + 2 * i)) << 16);
      }
      return;
    case TensorType::q4_0:
      return expand_blocks(expand_q4_0, layout, blocks, count, out);
    case TensorType::q4_1:
      return expand_blocks(expand_q4_1, layout, blocks, count, out);
    case TensorType::q5_0:
      return expand_blocks(expand_q5_0, layout, blocks, count, out);
    case TensorType::q5_1:
      return expand_blocks(expand_q5_1, layout, blocks, count, out);
    case TensorType::q8_0:
      return expand_blocks(expand_q8_0, layout, blocks, count, out);
    case TensorType::q4_k:
      return expand_blocks(expand_q4_k, layout, blocks, count, out);
    case TensorType::q5_k:
      return expand_blocks(expand_q5_k, layout, blocks, count, out);
    case TensorType::q6_k:
      return expand_blocks(expand_q6_k, layout, blocks, count, out);
  }
}

}  // namespace thinkd::engine
