#include "engine/model/model_summary.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "engine/model/file_hashes.h"
#include "engine/model/gguf.h"
#include "engine/model/model_words.h"
#include "engine/model/transformer.h"

namespace thinkd::engine {
namespace {

std::vector<TypeShare> shares_of(const GgufFile& file) {
  std::map<std::string_view, TypeShare> by_type;
  for (const GgufTensor& tensor : file.tensors()) {
    TypeShare& share = by_type[engine::info(tensor.type).name];
    share.type = engine::info(tensor.type).name;
    share.tensors += 1;
    share.parameters += tensor.elements();
    share.bytes += tensor.data.size();
  }
  std::vector<TypeShare> shares;
  for (auto& [name, share] : by_type) {
    shares.push_back(std::move(share));
  }
  std::stable_sort(shares.begin(), shares.end(), [](const TypeShare& a, const TypeShare& b) {
    return a.parameters > b.parameters;
  });
  return shares;
}

std::string text_or_empty(const GgufFile& file, const std::string& key) {
  const Result<std::string> text = file.get_text(key);
  return text.ok() ? *text : std::string();
}

// Nothing here is used to run a model, so a number too large to be true is shown as it stands.
uint64_t uint_or(const GgufFile& file, const std::string& key, uint64_t otherwise) {
  if (const Result<uint64_t> value = file.get_uint(key); value.ok()) {
    return *value;
  }
  const Result<std::vector<int64_t>> items = file.get_ints(key);
  return items.ok() && !items->empty() && items->front() > 0 ? static_cast<uint64_t>(items->front())
                                                             : otherwise;
}

void read_sizes(const GgufFile& file, ModelSummary& summary) {
  const std::string prefix = summary.info.architecture + ".";
  summary.layers = uint_or(file, prefix + "block_count", 0);
  summary.width = uint_or(file, prefix + "embedding_length", 0);
  summary.ffn = uint_or(file, prefix + "feed_forward_length", 0);
  summary.context = uint_or(file, prefix + "context_length", 0);
  summary.heads = uint_or(file, prefix + "attention.head_count", 0);
  summary.kv_heads = uint_or(file, prefix + "attention.head_count_kv", summary.heads);
  const uint64_t size = summary.heads == 0 ? 0 : summary.width / summary.heads;
  summary.head_size = uint_or(file, prefix + "attention.key_length", size);
  constexpr uint64_t kSane = 1 << 20;  // each; the product below then stays far from 2^64
  if (summary.layers < kSane && summary.kv_heads < kSane / 64 && summary.head_size < kSane / 64) {
    summary.kv_bytes_per_1024_tokens =
        summary.layers * summary.kv_heads * summary.head_size * 2 * sizeof(uint16_t) * 1024;
  }
}

Status can_run(const GgufFile& file) {
  const Result<Transformer> transformer = read_transformer(file);
  THINKD_CHECK(transformer.status());
  return read_words(file, transformer->config.vocabulary).status();
}

}  // namespace

std::string main_type(const GgufFile& file) {
  const std::vector<TypeShare> shares = shares_of(file);
  return shares.empty() ? std::string() : shares.front().type;
}

Result<ModelSummary> inspect_model(const std::string& path) {
  const Result<GgufFile> opened = GgufFile::open(path);
  if (!opened.ok()) {
    return opened.status();
  }
  const GgufFile& file = *opened;
  ModelSummary summary;
  ModelInfo& info = summary.info;
  info.name = std::filesystem::path(path).stem().string();
  info.path = path;
  info.file_bytes = file.file_bytes();
  info.architecture = text_or_empty(file, "general.architecture");
  info.title = text_or_empty(file, "general.name");
  const Result<std::string> hash = FileHashes(FileHashes::user_memory()).sha256(path);
  if (!hash.ok()) {
    return hash.status();
  }
  info.sha256 = *hash;

  summary.types = shares_of(file);
  info.quantization = summary.types.empty() ? std::string() : summary.types.front().type;
  for (const TypeShare& share : summary.types) {
    summary.parameters += share.parameters;
    summary.weight_bytes += share.bytes;
  }
  read_sizes(file, summary);

  summary.tokenizer_model = text_or_empty(file, "tokenizer.ggml.model");
  summary.tokenizer_pre = text_or_empty(file, "tokenizer.ggml.pre");
  summary.chat_template = file.has("tokenizer.chat_template");
  if (const GgufTensor* embedding = file.find("token_embd.weight")) {
    summary.vocabulary = embedding->rows();
  } else if (const auto tokens = file.get_texts("tokenizer.ggml.tokens"); tokens.ok()) {
    summary.vocabulary = tokens->size();
  }
  summary.runs = can_run(file);
  return summary;
}

}  // namespace thinkd::engine
