#pragma once
// The tensor types thinkd reads, and how each is expanded to float: the definition that every
// faster kernel is held against. Layouts as in ggml's block_* structs; scales f16, little-endian.
//
//   type   elements a block   bytes a block
//   F32 1 4, F16 1 2, BF16 1 2, Q4_0 32 18, Q4_1 32 20, Q5_0 32 22, Q5_1 32 24, Q8_0 32 34,
//   Q4_K 256 144, Q5_K 256 176, Q6_K 256 210

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace thinkd::engine {

// The numbers are GGUF's.
enum class TensorType : uint32_t {
  f32 = 0,
  f16 = 1,
  q4_0 = 2,
  q4_1 = 3,
  q5_0 = 6,
  q5_1 = 7,
  q8_0 = 8,
  q4_k = 12,
  q5_k = 13,
  q6_k = 14,
  bf16 = 30,
};

struct TensorTypeInfo {
  std::string_view name;  // "Q4_1"
  uint32_t block_elements;
  uint32_t block_bytes;
};

// None where thinkd does not know the type.
std::optional<TensorType> tensor_type(uint32_t gguf_number);
const TensorTypeInfo& info(TensorType type);

float half_to_float(uint16_t half);
uint16_t float_to_half(float value);  // round to nearest, ties to even

// Expands `count` elements (a multiple of the type's block) from `blocks` into `out`.
void dequantize(TensorType type, const uint8_t* blocks, uint64_t count, float* out);

}  // namespace thinkd::engine
