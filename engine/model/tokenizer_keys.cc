#include "engine/model/tokenizer_keys.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"

namespace thinkd::engine {
namespace {

Result<std::optional<Token>> optional_token(const GgufFile& file, const std::string& key) {
  if (!file.has(key)) {
    return std::optional<Token>();
  }
  const Result<uint64_t> id = file.get_uint(key);
  if (!id.ok()) {
    return id.status();
  }
  if (*id > std::numeric_limits<Token>::max()) {
    return corrupt("key '" + key + "': token " + std::to_string(*id) + " cannot be");
  }
  return std::optional<Token>(static_cast<Token>(*id));
}

Status read_types(const GgufFile& file, TokenizerSpec& spec) {
  const std::string key = "tokenizer.ggml.token_type";
  if (!file.has(key)) {
    return {};
  }
  const Result<std::vector<int64_t>> types = file.get_ints(key);
  if (!types.ok()) {
    return types.status();
  }
  for (const int64_t type : *types) {
    if (type < 0 || type > std::numeric_limits<uint8_t>::max()) {
      return corrupt("key '" + key + "': token type " + std::to_string(type) + " does not exist");
    }
    spec.types.push_back(static_cast<uint32_t>(type));
  }
  return {};
}

Status read_ends(const GgufFile& file, TokenizerSpec& spec) {
  const std::pair<const char*, std::optional<Token>*> ids[] = {
      {"tokenizer.ggml.bos_token_id", &spec.bos},
      {"tokenizer.ggml.eos_token_id", &spec.eos},
      {"tokenizer.ggml.eot_token_id", &spec.eot},
  };
  for (const auto& [key, place] : ids) {
    const Result<std::optional<Token>> id = optional_token(file, key);
    if (!id.ok()) {
      return id.status();
    }
    *place = *id;
  }
  spec.add_bos = spec.pre == "llama-bpe" && spec.bos.has_value();
  const std::string key = "tokenizer.ggml.add_bos_token";
  if (file.has(key)) {
    const Result<bool> add = file.get_bool(key);
    if (!add.ok()) {
      return add.status();
    }
    if (*add && !spec.bos) {
      return corrupt("key '" + key + "': true, but the file names no bos_token_id");
    }
    spec.add_bos = *add;
  }
  return {};
}

}  // namespace

Result<TokenizerSpec> read_tokenizer_spec(const GgufFile& file) {
  TokenizerSpec spec;
  Result<std::string> model = file.get_text("tokenizer.ggml.model");
  if (!model.ok()) {
    return model.status();
  }
  spec.model = *std::move(model);
  if (spec.model != "gpt2") {
    return unavailable("key 'tokenizer.ggml.model': '" +
                       escape_controls(repair_utf8(std::string_view(spec.model).substr(0, 80))) +
                       "' is not known; thinkd reads 'gpt2' (byte-level BPE)");
  }
  Result<std::string> pre = file.get_text("tokenizer.ggml.pre");
  Result<std::vector<std::string>> pieces = file.get_texts("tokenizer.ggml.tokens");
  Result<std::vector<std::string>> merges = file.get_texts("tokenizer.ggml.merges");
  THINKD_CHECK(pre.status());
  THINKD_CHECK(pieces.status());
  THINKD_CHECK(merges.status());
  spec.pre = *std::move(pre);
  spec.pieces = *std::move(pieces);
  spec.merges = *std::move(merges);
  THINKD_CHECK(read_types(file, spec));
  THINKD_CHECK(read_ends(file, spec));
  return spec;
}

}  // namespace thinkd::engine
