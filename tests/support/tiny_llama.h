#pragma once
// A tiny llama with random weights, as a real GGUF file: 2 layers, 4 heads on 2 KV heads, 303
// tokens (3 special ones, all bytes, 44 merges), a ChatML template. It says nonsense, reproducibly.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "engine/model/tensor_type.h"
#include "tests/support/gguf_writer.h"

namespace thinkd::testing {

struct TinyLlama {
  engine::TensorType type = engine::TensorType::f32;  // of the matrices; norms are always F32
  std::optional<engine::TensorType> embedding = std::nullopt;  // default: as `type`
  uint64_t seed = 1;
  uint32_t layers = 2;
  uint32_t heads = 4;
  uint32_t kv_heads = 2;
  uint32_t context = 512;
  bool tied = true;  // no output.weight
  bool chat_template = true;
  std::string chat_source = "";                     // instead of ChatML
  bool rope_factors = false;                        // a rope_freqs.weight with factors 1..4
  std::optional<float> rope_linear = std::nullopt;  // rope.scaling.type linear with this factor
  std::string pre = "smollm";

  bool super_blocks() const {  // the K types need rows of 256
    return engine::info(type).block_elements == 256 ||
           (embedding && engine::info(*embedding).block_elements == 256);
  }
  uint32_t width() const { return super_blocks() ? 256 : 64; }
  uint32_t ffn() const { return super_blocks() ? 512 : 128; }
  uint32_t head_size() const { return width() / heads; }
};

inline constexpr uint32_t kTinyVocabulary = 303;
inline constexpr uint32_t kTinyEndOfText = 0;
inline constexpr uint32_t kTinyMessageStart = 1;
inline constexpr uint32_t kTinyMessageEnd = 2;  // its end-of-sequence

// A stream of numbers that is the same everywhere (splitmix64, Steele, Lea, Flood, OOPSLA 2014).
class TinyRandom {
 public:
  explicit TinyRandom(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t limit) { return next() % limit; }
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24f; }  // [0, 1)

 private:
  uint64_t state_;
};

// `count` random elements of a type in its own layout, with a mean near 0 and about this deviation.
inline std::string random_blocks(engine::TensorType type, uint64_t count, float deviation,
                                 TinyRandom& random) {
  using engine::TensorType;
  const engine::TensorTypeInfo& layout = engine::info(type);
  ByteWriter out;
  const auto half = [&](float value) { out.write(engine::float_to_half(value)); };
  const auto noise = [&](uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; ++i) {
      out.write(static_cast<uint8_t>(random.next() >> 56));
    }
  };
  const float jitter = 0.75f;  // scales differ from block to block
  for (uint64_t block = 0; block < count / layout.block_elements; ++block) {
    const float size = deviation * (jitter + 0.5f * random.uniform());
    const float even = (random.uniform() - 0.5f) * 3.46f * deviation;  // uniform of that deviation
    switch (type) {
      case TensorType::f32:
        out.write(even);
        break;
      case TensorType::f16:
        half(even);
        break;
      case TensorType::bf16: {
        const auto bits = std::bit_cast<uint32_t>(even);
        out.write(static_cast<uint16_t>(bits >> 16));
        break;
      }
      case TensorType::q4_0:
        half(size / 4.6f);
        noise(16);
        break;
      case TensorType::q4_1:
        half(size / 4.6f);
        half(-7.5f * size / 4.6f);
        noise(16);
        break;
      case TensorType::q5_0:
        half(size / 9.2f);
        noise(20);
        break;
      case TensorType::q5_1:
        half(size / 9.2f);
        half(-15.5f * size / 9.2f);
        noise(20);
        break;
      case TensorType::q8_0:
        half(size / 74.0f);
        noise(32);
        break;
      case TensorType::q4_k:
        half(size / 230.0f);
        half(7.5f * size / 230.0f);
        noise(140);
        break;
      case TensorType::q5_k:
        half(size / 460.0f);
        half(15.5f * size / 460.0f);
        noise(172);
        break;
      case TensorType::q6_k:
        noise(208);
        half(size / 1370.0f);
        break;
    }
  }
  return out.take();
}

// The printable stand-in of each byte in a byte-level vocabulary (GPT-2): bytes that print stay,
// the others are numbered up from U+0100.
inline std::vector<std::string> byte_pieces() {
  std::vector<std::string> pieces;
  uint32_t moved = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool prints =
        (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    const uint32_t code = prints ? byte : moved++;
    std::string piece;
    if (code < 0x80) {
      piece.push_back(static_cast<char>(code));
    } else {
      piece.push_back(static_cast<char>(0xc0 | (code >> 6)));
      piece.push_back(static_cast<char>(0x80 | (code & 0x3f)));
    }
    pieces.push_back(piece);
  }
  return pieces;
}

inline void add_tiny_tokenizer(GgufWriter& writer, const TinyLlama& options) {
  std::vector<std::string> tokens = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  std::vector<int32_t> types(3, 3);
  for (const std::string& piece : byte_pieces()) {
    tokens.push_back(piece);
  }
  const std::string g = "\xc4\xa0";  // the stand-in of a space
  const std::vector<std::pair<std::string, std::string>> merges = {
      {g, "t"},        {g, "a"},        {"h", "e"}, {"i", "n"}, {"r", "e"},     {"o", "n"},
      {g + "t", "he"}, {"e", "r"},      {"a", "t"}, {g, "s"},   {g, "w"},       {g, "o"},
      {"e", "n"},      {g, "c"},        {"i", "t"}, {"i", "s"}, {"a", "n"},     {"o", "r"},
      {"e", "s"},      {g, "b"},        {"e", "d"}, {g, "f"},   {"in", "g"},    {g, "p"},
      {"o", "u"},      {g + "a", "n"},  {"a", "l"}, {"a", "r"}, {g, "m"},       {g + "o", "f"},
      {g, "in"},       {"l", "l"},      {g, "d"},   {g, "h"},   {g + "t", "o"}, {"l", "e"},
      {"o", "m"},      {g + "an", "d"}, {"s", "t"}, {"i", "c"}, {"a", "s"},     {g, "is"},
      {"v", "e"},      {"=", "="}};
  std::vector<std::string> merge_texts;
  for (const auto& [left, right] : merges) {
    merge_texts.push_back(left + " " + right);
    tokens.push_back(left + right);
  }
  types.resize(tokens.size(), 1);
  writer.key_text("tokenizer.ggml.model", "gpt2")
      .key_text("tokenizer.ggml.pre", options.pre)
      .key_texts("tokenizer.ggml.tokens", tokens)
      .key_ints("tokenizer.ggml.token_type", types)
      .key_texts("tokenizer.ggml.merges", merge_texts)
      .key_u32("tokenizer.ggml.bos_token_id", kTinyMessageStart)
      .key_u32("tokenizer.ggml.eos_token_id", kTinyMessageEnd)
      .key_bool("tokenizer.ggml.add_bos_token", false);
  if (options.chat_template) {
    const std::string chat_ml =
        "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
        "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
    writer.key_text("tokenizer.chat_template",
                    options.chat_source.empty() ? chat_ml : options.chat_source);
  }
}

inline GgufWriter tiny_llama(const TinyLlama& options) {
  GgufWriter writer;
  const uint64_t width = options.width();
  const uint64_t keys = uint64_t{options.kv_heads} * options.head_size();
  writer.key_text("general.architecture", "llama")
      .key_text("general.name", "Tiny Llama")
      .key_u32("llama.block_count", options.layers)
      .key_u32("llama.context_length", options.context)
      .key_u32("llama.embedding_length", options.width())
      .key_u32("llama.feed_forward_length", options.ffn())
      .key_u32("llama.attention.head_count", options.heads)
      .key_u32("llama.attention.head_count_kv", options.kv_heads)
      .key_u32("llama.rope.dimension_count", options.head_size())
      .key_f32("llama.rope.freq_base", 10'000.0f)
      .key_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .key_u32("llama.vocab_size", kTinyVocabulary);
  if (options.rope_linear) {
    writer.key_text("llama.rope.scaling.type", "linear")
        .key_f32("llama.rope.scaling.factor", *options.rope_linear);
  }
  add_tiny_tokenizer(writer, options);

  TinyRandom random(options.seed);
  const auto matrix = [&](const std::string& name, uint64_t columns, uint64_t rows,
                          engine::TensorType type) {
    const float deviation = 1.0f / std::sqrt(static_cast<float>(columns));
    writer.tensor(name, {columns, rows}, static_cast<uint32_t>(type),
                  random_blocks(type, columns * rows, deviation, random));
  };
  const auto norm = [&](const std::string& name) {
    ByteWriter out;
    for (uint64_t i = 0; i < width; ++i) {
      out.write(0.5f + random.uniform());
    }
    writer.tensor(name, {width}, 0, out.bytes());
  };
  const engine::TensorType outer = options.embedding.value_or(options.type);
  matrix("token_embd.weight", width, kTinyVocabulary, outer);
  for (uint32_t layer = 0; layer < options.layers; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    norm(blk + "attn_norm.weight");
    matrix(blk + "attn_q.weight", width, width, options.type);
    matrix(blk + "attn_k.weight", width, keys, options.type);
    matrix(blk + "attn_v.weight", width, keys, options.type);
    matrix(blk + "attn_output.weight", width, width, options.type);
    norm(blk + "ffn_norm.weight");
    matrix(blk + "ffn_gate.weight", width, options.ffn(), options.type);
    matrix(blk + "ffn_up.weight", width, options.ffn(), options.type);
    matrix(blk + "ffn_down.weight", options.ffn(), width, options.type);
  }
  norm("output_norm.weight");
  if (!options.tied) {
    matrix("output.weight", width, kTinyVocabulary, outer);
  }
  if (options.rope_factors) {
    ByteWriter out;
    for (uint32_t i = 0; i < options.head_size() / 2; ++i) {
      out.write(1.0f + 3.0f * static_cast<float>(i) / static_cast<float>(options.head_size() / 2));
    }
    writer.tensor("rope_freqs.weight", {options.head_size() / 2}, 0, out.bytes());
  }
  return writer;
}

inline Status write_tiny_llama(const std::string& path, const TinyLlama& options) {
  return write_file(path, tiny_llama(options).bytes());
}

}  // namespace thinkd::testing
