#include "engine/model/llama.h"

#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "base/limits.h"
#include "engine/model/model_keys.h"

namespace thinkd::engine {
namespace {

// Reads one file straight down: the first failure stays and the steps after it do nothing.
class LlamaReader {
 public:
  explicit LlamaReader(const GgufFile& file) : file_(file), keys_(file, "llama") {}

  Result<Transformer> read() {
    config().architecture = "llama";
    read_sizes();
    read_rope();
    refuse_variants();
    read_weights();
    refuse_leftovers();
    if (!status_.ok()) {
      return status_;
    }
    return std::move(model_);
  }

 private:
  TransformerConfig& config() { return model_.config; }

  void fail(Status status) {
    if (status_.ok()) {
      status_ = std::move(status);
    }
  }

  template <class T>
  T take(Result<T> result, T otherwise) {
    if (!result.ok()) {
      fail(result.status());
      return otherwise;
    }
    return *std::move(result);
  }

  void read_sizes() {
    TransformerConfig& c = config();
    c.layers = take(keys_.count("block_count", limits::kModelLayers), 1u);
    c.width = take(keys_.count("embedding_length", limits::kModelWidth), 1u);
    c.ffn = take(keys_.count("feed_forward_length", limits::kModelFfn), 1u);
    c.context = take(keys_.count("context_length", limits::kModelContext), 1u);
    c.heads = take(keys_.count("attention.head_count", limits::kModelHeads), 1u);
    c.kv_heads = take(keys_.count_or("attention.head_count_kv", limits::kModelHeads, c.heads), 1u);
    c.rms_epsilon =
        static_cast<float>(take(keys_.positive("attention.layer_norm_rms_epsilon"), 1e-5));
    if (c.heads % c.kv_heads != 0) {
      fail(corrupt("key '" + keys_.key("attention.head_count_kv") +
                   "': " + std::to_string(c.kv_heads) + " does not divide the " +
                   std::to_string(c.heads) + " heads"));
    }
    if (!keys_.has("attention.key_length") && c.width % c.heads != 0) {
      fail(corrupt("key '" + keys_.key("attention.head_count") + "': " + std::to_string(c.heads) +
                   " heads do not divide the width " + std::to_string(c.width)));
    }
    c.head_size =
        take(keys_.count_or("attention.key_length", limits::kModelHeadSize, c.width / c.heads), 1u);
    if (c.head_size == 0 || c.head_size > limits::kModelHeadSize) {
      fail(over_limit("head size: " + std::to_string(c.head_size) + ", the limits are 1 and " +
                      std::to_string(limits::kModelHeadSize)));
    }
    const uint32_t value_size =
        take(keys_.count_or("attention.value_length", limits::kModelHeadSize, c.head_size), 1u);
    if (value_size != c.head_size) {
      fail(unavailable("key '" + keys_.key("attention.value_length") +
                       "': " + std::to_string(value_size) + " where keys have " +
                       std::to_string(c.head_size)));
    }
  }

  void read_rope() {
    TransformerConfig& c = config();
    c.rope_dimensions =
        take(keys_.count_or("rope.dimension_count", limits::kModelHeadSize, c.head_size), 2u);
    if (c.rope_dimensions % 2 != 0 || c.rope_dimensions > c.head_size) {
      fail(corrupt("key '" + keys_.key("rope.dimension_count") +
                   "': " + std::to_string(c.rope_dimensions) +
                   " is not even or more than the head size " + std::to_string(c.head_size)));
      return;
    }
    c.rope_pairs = RopePairs::adjacent;
    c.rope_base = take(keys_.positive_or("rope.freq_base", 10'000.0), 1.0);
    const std::string old_scale = keys_.has("rope.scale_linear") ? "linear" : "none";
    const std::string scaling = take(keys_.text_or("rope.scaling.type", old_scale), std::string());
    if (scaling == "linear") {
      const std::string factor =
          keys_.has("rope.scaling.factor") ? "rope.scaling.factor" : "rope.scale_linear";
      c.rope_scale = take(keys_.positive(factor), 1.0);
    } else if (scaling != "none") {
      fail(unavailable("key '" + keys_.key("rope.scaling.type") + "': '" + scaling +
                       "'; thinkd knows 'none' and 'linear'"));
    }
    if (file_.find("rope_freqs.weight") != nullptr) {
      read_rope_factors();
    }
  }

  void read_rope_factors() {
    const uint32_t pairs = config().rope_dimensions / 2;
    const GgufTensor* tensor = vector("rope_freqs.weight", pairs);
    if (tensor == nullptr) {
      return;
    }
    config().rope_factors.resize(pairs);
    std::memcpy(config().rope_factors.data(), tensor->data.data(), tensor->data.size());
    for (uint32_t i = 0; i < pairs; ++i) {
      if (!(std::isfinite(config().rope_factors[i]) && config().rope_factors[i] > 0)) {
        fail(corrupt("tensor 'rope_freqs.weight': factor " + std::to_string(i) +
                     " is not a finite number above 0"));
        return;
      }
    }
  }

  void refuse_variants() {
    if (keys_.has("expert_count") &&
        take(file_.get_uint(keys_.key("expert_count")), uint64_t{0}) != 0) {
      fail(unavailable("key '" + keys_.key("expert_count") + "': a mixture of experts"));
    }
    if (keys_.has("attention.sliding_window")) {
      const auto window = take(file_.get_uint(keys_.key("attention.sliding_window")), uint64_t{0});
      if (window != 0 && window < config().context) {
        fail(unavailable("key '" + keys_.key("attention.sliding_window") +
                         "': " + std::to_string(window) + " of a context of " +
                         std::to_string(config().context)));
      }
    }
    if (keys_.has("attention.causal") &&
        !take(file_.get_bool(keys_.key("attention.causal")), true)) {
      fail(
          unavailable("key '" + keys_.key("attention.causal") + "': attention in both directions"));
    }
  }

  // Extents as rows x columns read: the innermost comes first in the file.
  const GgufTensor* matrix(const std::string& name, uint64_t columns, uint64_t rows) {
    return used(shaped_tensor(file_, name, {columns, rows}));
  }
  const GgufTensor* vector(const std::string& name, uint64_t length) {
    return used(float_vector(file_, name, length));
  }
  const GgufTensor* used(Result<const GgufTensor*> tensor) {
    const GgufTensor* found = take<const GgufTensor*>(std::move(tensor), nullptr);
    used_.insert(found);
    return found;
  }

  void read_weights() {
    if (!status_.ok()) {
      return;
    }
    TransformerConfig& c = config();
    TransformerWeights& w = model_.weights;
    const GgufTensor* embedding = file_.find("token_embd.weight");
    const uint64_t rows = embedding == nullptr ? 0 : embedding->rows();
    w.embedding = matrix("token_embd.weight", c.width, rows);
    if (rows > limits::kModelVocabulary) {
      fail(over_limit("tensor 'token_embd.weight': " + std::to_string(rows) +
                      " tokens, the limit is " + std::to_string(limits::kModelVocabulary)));
    }
    c.vocabulary = static_cast<uint32_t>(rows);
    w.output_norm = vector("output_norm.weight", c.width);
    c.tied = file_.find("output.weight") == nullptr;
    w.output = c.tied ? w.embedding : matrix("output.weight", c.width, rows);
    for (uint32_t i = 0; i < c.layers && status_.ok(); ++i) {
      w.layers.push_back(layer("blk." + std::to_string(i) + "."));
    }
  }

  LayerWeights layer(const std::string& prefix) {
    const TransformerConfig& c = config();
    LayerWeights l;
    l.attention_norm = vector(prefix + "attn_norm.weight", c.width);
    l.query = matrix(prefix + "attn_q.weight", c.width, c.queries());
    l.key = matrix(prefix + "attn_k.weight", c.width, c.keys());
    l.value = matrix(prefix + "attn_v.weight", c.width, c.keys());
    l.attention_output = matrix(prefix + "attn_output.weight", c.queries(), c.width);
    l.ffn_norm = vector(prefix + "ffn_norm.weight", c.width);
    l.gate = matrix(prefix + "ffn_gate.weight", c.width, c.ffn);
    l.up = matrix(prefix + "ffn_up.weight", c.width, c.ffn);
    l.down = matrix(prefix + "ffn_down.weight", c.ffn, c.width);
    return l;
  }

  void refuse_leftovers() {
    if (!status_.ok()) {
      return;
    }
    for (const GgufTensor& tensor : file_.tensors()) {
      // Written by old converters from what RoPE computes anyway.
      const bool derived = tensor.name.ends_with(".attn_rot_embd.weight") ||
                           tensor.name.ends_with(".rotary_emb.inv_freq");
      if (!derived && used_.count(&tensor) == 0) {
        fail(unavailable("tensor '" + tensor.name +
                         "': no part of a llama model that thinkd knows"));
        return;
      }
    }
  }

  const GgufFile& file_;
  ModelKeys keys_;
  Transformer model_;
  std::set<const GgufTensor*> used_;
  Status status_;
};

}  // namespace

Result<Transformer> read_llama(const GgufFile& file) { return LlamaReader(file).read(); }

}  // namespace thinkd::engine
