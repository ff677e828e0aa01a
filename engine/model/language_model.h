#pragma once
// A language model ready to be run: what its file says of it, its tokenizer and chat template, and
// the runner that holds its weights. Immutable after loading, but for the runner, which belongs to
// the engine thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "engine/chat/chat_template.h"
#include "engine/runner/model_runner.h"
#include "engine/tokenizer/tokenizer.h"

namespace thinkd::engine {

enum class KvType : uint8_t { f16, f32 };
enum class ComputeMode : uint8_t { automatic, f32 };

struct ModelOptions {
  uint32_t threads = 0;                          // kernel threads; 0: one a core
  ComputeMode compute = ComputeMode::automatic;  // f32: activations and KV stay float
  std::optional<KvType> kv;                      // default: f16, f32 with compute f32
  std::string isa;                               // "" picks the best: avx2, portable
};

struct ModelInfo {
  std::string name;  // as the user names it
  std::string path;
  uint64_t file_bytes = 0;
  std::string sha256;        // hex; of the whole file
  std::string architecture;  // general.architecture
  std::string quantization;  // the type most weights have, "Q4_1"
  std::string title;         // general.name, may be empty
};

struct LanguageModel {
  ModelInfo info;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;  // none: a base model
  std::unique_ptr<ModelRunner> runner;
};

// Loads a GGUF file. Errors: not_found, io, corrupt (a field of the file, named), unavailable (an
// architecture, tensor type or tokenizer that thinkd does not know, named).
Result<std::unique_ptr<LanguageModel>> load_language_model(const std::string& path,
                                                           const ModelOptions& options);

}  // namespace thinkd::engine
