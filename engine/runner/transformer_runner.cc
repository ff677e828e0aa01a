#include "engine/runner/transformer_runner.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <functional>
#include <utility>

#include "engine/kernels/kernels.h"
#include "engine/kernels/multiply.h"
#include "engine/kernels/thread_pool.h"
#include "engine/model/language_model.h"
#include "engine/runner/attention.h"
#include "engine/runner/page_layout.h"
#include "engine/runner/rope_table.h"

namespace thinkd::engine {
namespace {

constexpr uint32_t kRowsAChunk = 8;     // rows of element-wise work given to a thread at once
constexpr uint32_t kGroupsAThread = 4;  // attention work items, so that threads end together

// Floats that only ever grow; what is in them is written before it is read.
class Buffer {
 public:
  float* need(uint64_t count) {
    if (floats_.size() < count) {
      floats_.resize(count);
    }
    return floats_.data();
  }
  float* data() { return floats_.data(); }
  void swap(Buffer& other) { floats_.swap(other.floats_); }

 private:
  std::vector<float> floats_;
};

std::vector<float> floats_of(const GgufTensor& tensor) {
  std::vector<float> out(tensor.elements());
  dequantize(tensor.type, tensor.data.data(), out.size(), out.data());
  return out;
}

PageLayout layout_of(const TransformerConfig& config, const ModelOptions& options) {
  const KvType fallback = options.compute == ComputeMode::f32 ? KvType::f32 : KvType::f16;
  return {config.layers, config.kv_heads, config.head_size, options.kv.value_or(fallback)};
}

class TransformerRunner final : public ModelRunner {
 public:
  TransformerRunner(std::shared_ptr<const GgufFile> file, TransformerConfig config,
                    TransformerWeights weights, const Kernels& kernels,
                    const ModelOptions& options);

  const ModelShape& shape() const override { return shape_; }
  void run(std::span<const Row> rows, std::span<const uint32_t> wanted, float* hidden) override;
  void logits(const float* hidden, uint32_t count, float* out) override;
  std::string fingerprint() const override;
  uint64_t weight_passes() const override { return weight_passes_; }
  void parallel(uint32_t count, const std::function<void(uint32_t)>& task) override {
    pool_.parallel_for(count, [&](uint32_t index, uint32_t) { task(index); });
  }

 private:
  struct Norms {
    std::vector<float> attention;
    std::vector<float> ffn;
  };

  template <class Task>
  void for_rows(uint32_t count, Task&& task) {
    pool_.parallel_for((count + kRowsAChunk - 1) / kRowsAChunk, [&](uint32_t chunk, uint32_t) {
      const uint32_t end = std::min(count, (chunk + 1) * kRowsAChunk);
      for (uint32_t row = chunk * kRowsAChunk; row < end; ++row) {
        task(row);
      }
    });
  }

  void prepare(std::span<const Row> rows, uint64_t wanted);
  void embed(std::span<const Row> rows);
  void normalise(uint32_t count, const std::vector<float>& weight, float* out);
  void add_and_normalise(uint32_t count, const std::vector<float>& weight, float* out);
  void store_keys(std::span<const Row> rows, uint32_t layer);
  void gather(std::span<const uint32_t> wanted);
  void attend_and_feed(const AttentionPlan& plan, uint32_t layer);
  Product product(const GgufTensor& weights, const float* x, uint32_t count, float* out) const;

  const std::shared_ptr<const GgufFile> file_;
  const TransformerConfig config_;
  const TransformerWeights weights_;
  const PageLayout layout_;
  const ComputeMode compute_;
  const Kernels& kernels_;
  std::vector<Norms> norms_;
  std::vector<float> output_norm_;
  ModelShape shape_;
  ThreadPool pool_;
  Multiplier multiplier_;
  RopeTable rope_;
  Attention attention_;
  uint64_t weight_passes_ = 0;

  // Activations, a row each: the residual stream, its normalised form, and what the layers make of
  // it.
  Buffer stream_, normal_, query_, key_, value_, attended_, change_, gate_, up_, spare_;
};

TransformerRunner::TransformerRunner(std::shared_ptr<const GgufFile> file, TransformerConfig config,
                                     TransformerWeights weights, const Kernels& kernels,
                                     const ModelOptions& options)
    : file_(std::move(file)),
      config_(std::move(config)),
      weights_(std::move(weights)),
      layout_(layout_of(config_, options)),
      compute_(options.compute),
      kernels_(kernels),
      output_norm_(floats_of(*weights_.output_norm)),
      pool_(options.threads),
      multiplier_(kernels_, pool_),
      rope_(config_),
      attention_(config_, layout_, kernels_, rope_, pool_) {
  shape_.vocabulary = config_.vocabulary;
  shape_.width = config_.width;
  shape_.context = config_.context;
  shape_.page_bytes = layout_.page_bytes();
  shape_.attention_flops_per_key = uint64_t{4} * config_.layers * config_.heads * config_.head_size;
  shape_.weights_per_row = weights_.output->elements();
  for (const LayerWeights& layer : weights_.layers) {
    for (const GgufTensor* matrix : {layer.query, layer.key, layer.value, layer.attention_output,
                                     layer.gate, layer.up, layer.down}) {
      shape_.weights_per_row += matrix->elements();
    }
    norms_.push_back({floats_of(*layer.attention_norm), floats_of(*layer.ffn_norm)});
  }
}

std::string TransformerRunner::fingerprint() const {
  std::string text = "transformer 1, block " + std::to_string(kBlockTokens) + ", isa ";
  text += kernels_.name;
  text += compute_ == ComputeMode::f32 ? ", compute f32" : ", compute auto";
  text += layout_.type == KvType::f32 ? ", kv f32" : ", kv f16";
  return text;
}

Product TransformerRunner::product(const GgufTensor& weights, const float* x, uint32_t count,
                                   float* out) const {
  return {weights.type,
          weights.data.data(),
          static_cast<uint32_t>(weights.rows()),
          static_cast<uint32_t>(weights.columns()),
          x,
          count,
          out,
          weights.rows()};
}

void TransformerRunner::prepare(std::span<const Row> rows, uint64_t wanted) {
  for (const Row& row : rows) {
    assert(row.token < config_.vocabulary && row.slot < kBlockTokens);
    rope_.prepare(row.position);
    for (const BlockRead& read : row.reads) {
      assert(read.to <= kBlockTokens);
      rope_.prepare(row.query_position - read.shift);
    }
  }
  const uint64_t count = std::max<uint64_t>(rows.size(), wanted);
  stream_.need(count * config_.width);
  normal_.need(count * config_.width);
  change_.need(count * config_.width);
  query_.need(count * config_.queries());
  attended_.need(count * config_.queries());
  key_.need(count * config_.keys());
  value_.need(count * config_.keys());
  gate_.need(count * config_.ffn);
  up_.need(count * config_.ffn);
}

void TransformerRunner::embed(std::span<const Row> rows) {
  const GgufTensor& table = *weights_.embedding;
  const uint64_t row_bytes = table.data.size() / table.rows();
  for_rows(static_cast<uint32_t>(rows.size()), [&](uint32_t row) {
    kernels_.expand(table.type, table.data.data() + rows[row].token * row_bytes, config_.width,
                    stream_.data() + uint64_t{row} * config_.width);
  });
}

void TransformerRunner::normalise(uint32_t count, const std::vector<float>& weight, float* out) {
  for_rows(count, [&](uint32_t row) {
    const uint64_t at = uint64_t{row} * config_.width;
    kernels_.rms_norm(stream_.data() + at, weight.data(), config_.rms_epsilon, config_.width,
                      out + at);
  });
}

void TransformerRunner::add_and_normalise(uint32_t count, const std::vector<float>& weight,
                                          float* out) {
  for_rows(count, [&](uint32_t row) {
    const uint64_t at = uint64_t{row} * config_.width;
    kernels_.add(stream_.data() + at, change_.data() + at, config_.width);
    kernels_.rms_norm(stream_.data() + at, weight.data(), config_.rms_epsilon, config_.width,
                      out + at);
  });
}

void TransformerRunner::store_keys(std::span<const Row> rows, uint32_t layer) {
  const uint32_t size = config_.head_size;
  for_rows(static_cast<uint32_t>(rows.size()), [&](uint32_t index) {
    const Row& row = rows[index];
    const float* cos_sin = rope_.at(row.position);
    float* keys = key_.data() + uint64_t{index} * config_.keys();
    float* values = value_.data() + uint64_t{index} * config_.keys();
    float* rotated =
        attended_.data() + uint64_t{index} * config_.queries();  // free until attention
    for (uint32_t head = 0; head < config_.kv_heads; ++head, keys += size, values += size) {
      kernels_.rotate(keys, cos_sin, config_.rope_pairs, config_.rope_dimensions, size, rotated);
      uint8_t* key = layout_.key(row.page, layer, head, row.slot);
      uint8_t* value = layout_.value(row.page, layer, head, row.slot);
      if (layout_.type == KvType::f16) {
        kernels_.to_half(rotated, size, reinterpret_cast<uint16_t*>(key));
        kernels_.to_half(values, size, reinterpret_cast<uint16_t*>(value));
      } else {
        std::memcpy(key, rotated, size * sizeof(float));
        std::memcpy(value, values, size * sizeof(float));
      }
    }
  });
}

// Keeps the wanted rows of the stream and of its normalised form, in the order wanted.
void TransformerRunner::gather(std::span<const uint32_t> wanted) {
  const uint64_t width = config_.width;
  for (Buffer* buffer : {&stream_, &normal_}) {
    float* out = spare_.need(wanted.size() * width);
    for (size_t i = 0; i < wanted.size(); ++i) {
      std::copy_n(buffer->data() + wanted[i] * width, width, out + i * width);
    }
    buffer->swap(spare_);
  }
}

// From queries to the feed-forward result, which is left in change_ for the next norm to add.
void TransformerRunner::attend_and_feed(const AttentionPlan& plan, uint32_t layer) {
  const LayerWeights& weights = weights_.layers[layer];
  const auto count = static_cast<uint32_t>(plan.chosen.size());
  attention_.run(plan, layer, query_.data(), attended_.data());
  const Product output[] = {
      product(*weights.attention_output, attended_.data(), count, change_.data())};
  multiplier_.run(output);
  add_and_normalise(count, norms_[layer].ffn, normal_.data());
  const Product inner[] = {product(*weights.gate, normal_.data(), count, gate_.data()),
                           product(*weights.up, normal_.data(), count, up_.data())};
  multiplier_.run(inner);
  for_rows(count, [&](uint32_t row) {
    const uint64_t at = uint64_t{row} * config_.ffn;
    kernels_.silu_multiply(gate_.data() + at, up_.data() + at, config_.ffn);
  });
  const Product down[] = {product(*weights.down, gate_.data(), count, change_.data())};
  multiplier_.run(down);
}

void TransformerRunner::run(std::span<const Row> rows, std::span<const uint32_t> wanted,
                            float* hidden) {
  if (rows.empty()) {
    return;
  }
  ++weight_passes_;
  prepare(rows, wanted.size());
  const auto count = static_cast<uint32_t>(rows.size());
  const uint32_t groups =
      (kGroupsAThread * pool_.threads() + config_.kv_heads - 1) / config_.kv_heads;
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) {
    all[i] = i;
  }
  const AttentionPlan plan = plan_attention(rows, std::move(all), groups);

  embed(rows);
  normalise(count, norms_[0].attention, normal_.data());
  for (uint32_t layer = 0; layer < config_.layers; ++layer) {
    const LayerWeights& weights = weights_.layers[layer];
    const bool last = layer + 1 == config_.layers;
    const Product keys_first[] = {product(*weights.key, normal_.data(), count, key_.data()),
                                  product(*weights.value, normal_.data(), count, value_.data()),
                                  product(*weights.query, normal_.data(), count, query_.data())};
    multiplier_.run(std::span(keys_first).first(last ? 2 : 3));
    store_keys(rows, layer);
    if (!last) {
      attend_and_feed(plan, layer);
      add_and_normalise(count, norms_[layer + 1].attention, normal_.data());
      continue;
    }
    if (wanted.empty()) {
      return;
    }
    // Beyond its keys, the last layer is only of use to the rows that are wanted.
    gather(wanted);
    const auto kept = static_cast<uint32_t>(wanted.size());
    const Product query[] = {product(*weights.query, normal_.data(), kept, query_.data())};
    multiplier_.run(query);
    const AttentionPlan last_plan =
        plan_attention(rows, std::vector<uint32_t>(wanted.begin(), wanted.end()), groups);
    attend_and_feed(last_plan, layer);
    add_and_normalise(kept, output_norm_, hidden);
  }
}

void TransformerRunner::logits(const float* hidden, uint32_t count, float* out) {
  const Product output[] = {product(*weights_.output, hidden, count, out)};
  multiplier_.run(output);
}

}  // namespace

Result<std::unique_ptr<ModelRunner>> make_transformer_runner(std::shared_ptr<const GgufFile> file,
                                                             TransformerConfig config,
                                                             TransformerWeights weights,
                                                             const ModelOptions& options) {
  const Result<const Kernels*> kernels = find_kernels(options.isa);
  if (!kernels) {
    return kernels.status();
  }
  return std::unique_ptr<ModelRunner>(std::make_unique<TransformerRunner>(
      std::move(file), std::move(config), std::move(weights), **kernels, options));
}

}  // namespace thinkd::engine
