#pragma once
// What `thinkd models inspect` shows: a model file from its header alone, also of a family that
// thinkd cannot run yet. No weight is read but for the hash, which is remembered (file_hashes.h).

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/model/gguf.h"
#include "engine/model/language_model.h"

namespace thinkd::engine {

// How much of a model is stored in one tensor type.
struct TypeShare {
  std::string type;  // "Q4_1"
  uint64_t tensors = 0;
  uint64_t parameters = 0;
  uint64_t bytes = 0;
};

struct ModelSummary {
  ModelInfo info;
  uint64_t parameters = 0;
  uint64_t weight_bytes = 0;
  std::vector<TypeShare> types;  // most parameters first

  // 0 where the file does not say.
  uint64_t layers = 0;
  uint64_t width = 0;
  uint64_t heads = 0;
  uint64_t kv_heads = 0;
  uint64_t head_size = 0;
  uint64_t ffn = 0;
  uint64_t context = 0;
  uint64_t kv_bytes_per_1024_tokens = 0;  // at f16

  std::string tokenizer_model;  // "" where the file has none
  std::string tokenizer_pre;
  uint64_t vocabulary = 0;  // rows of the embedding, else tokens of the tokenizer
  bool chat_template = false;

  Status runs;  // ok where thinkd can run it, its chat template included; else why not
};

// Errors: those of GgufFile::open and of reading the file.
Result<ModelSummary> inspect_model(const std::string& path);

// The type that most weights have, as in ModelInfo::quantization; "" for a file without tensors.
std::string main_type(const GgufFile& file);

}  // namespace thinkd::engine
