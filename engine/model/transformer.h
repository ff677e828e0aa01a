#pragma once
// What a decoder-only transformer looks like once its file has been read and checked: the numbers
// that its layers are built from and the tensors they multiply with. Families (llama, later qwen2,
// gemma) differ in how they fill this in; the runner knows this and nothing of the file.
//
// The pointers lead into the GgufFile that the weights were read from, which must outlive them.
// Every shape is checked before these structs are handed out: a runner need not check again.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/model/gguf.h"
#include "engine/model/rope_pairs.h"

namespace thinkd::engine {

struct TransformerConfig {
  std::string architecture;  // general.architecture
  uint32_t layers = 0;
  uint32_t width = 0;  // floats in a hidden state
  uint32_t heads = 0;
  uint32_t kv_heads = 0;   // divides heads
  uint32_t head_size = 0;  // floats in a head's query, key and value
  uint32_t ffn = 0;        // floats inside the feed-forward layer
  uint32_t vocabulary = 0;
  uint32_t context = 0;          // positions the model was made for
  uint32_t rope_dimensions = 0;  // even, at most head_size; the elements after them stay unrotated
  RopePairs rope_pairs = RopePairs::adjacent;
  double rope_base = 10'000.0;
  double rope_scale = 1.0;  // linear scaling: the angle is position / rope_scale * frequency
  std::vector<float> rope_factors;  // pair i's frequency is divided by factor i; empty: all 1
  float rms_epsilon = 1e-5f;
  bool tied = false;  // the output matrix is the embedding

  uint32_t queries() const { return heads * head_size; }
  uint32_t keys() const { return kv_heads * head_size; }
};

// Matrices are rows x columns with columns innermost, so that y = W x has one dot product a row.
struct LayerWeights {
  const GgufTensor* attention_norm = nullptr;    // width, f32
  const GgufTensor* query = nullptr;             // queries x width
  const GgufTensor* key = nullptr;               // keys x width
  const GgufTensor* value = nullptr;             // keys x width
  const GgufTensor* attention_output = nullptr;  // width x queries
  const GgufTensor* ffn_norm = nullptr;          // width, f32
  const GgufTensor* gate = nullptr;              // ffn x width
  const GgufTensor* up = nullptr;                // ffn x width
  const GgufTensor* down = nullptr;              // width x ffn
};

struct TransformerWeights {
  const GgufTensor* embedding = nullptr;    // vocabulary x width
  const GgufTensor* output_norm = nullptr;  // width, f32
  const GgufTensor* output = nullptr;       // vocabulary x width; the embedding where tied
  std::vector<LayerWeights> layers;
};

struct Transformer {
  TransformerConfig config;
  TransformerWeights weights;
};

// Reads and checks what `file` says of itself, by its general.architecture. Errors: corrupt (a key
// or tensor, named, is missing or has the wrong type or shape), limit, unavailable (an architecture
// or a variant of it that thinkd does not know, named).
Result<Transformer> read_transformer(const GgufFile& file);

}  // namespace thinkd::engine
