// What a llama file says of itself: read, checked, refused by name.

#include <filesystem>

#include "engine/model/transformer.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::engine {
namespace {

using testing::GgufWriter;
using testing::TinyLlama;

// A model file in a folder that goes with it.
class Saved {
 public:
  explicit Saved(const std::string& bytes) {
    std::string pattern = (std::filesystem::temp_directory_path() / "thinkd-llama-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    REQUIRE(write_file(path(), bytes).ok());
    Result<GgufFile> opened = GgufFile::open(path());
    CAPTURE(opened.status().message());
    REQUIRE(opened.ok());
    file_.emplace(*std::move(opened));
  }
  ~Saved() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/m.gguf"; }
  const GgufFile& file() const { return *file_; }

 private:
  std::string folder_;
  std::optional<GgufFile> file_;
};

// The sizes of a small model, any of which a test may set wrong. F32 zeros everywhere.
struct Sizes {
  uint32_t layers = 1, width = 8, ffn = 16, heads = 2, kv_heads = 1, rope = 4, context = 64;
  float epsilon = 1e-5f;
};

GgufWriter keys(const Sizes& s) {
  GgufWriter writer;
  writer.key_text("general.architecture", "llama")
      .key_u32("llama.block_count", s.layers)
      .key_u32("llama.embedding_length", s.width)
      .key_u32("llama.feed_forward_length", s.ffn)
      .key_u32("llama.attention.head_count", s.heads)
      .key_u32("llama.attention.head_count_kv", s.kv_heads)
      .key_u32("llama.rope.dimension_count", s.rope)
      .key_u32("llama.context_length", s.context)
      .key_f32("llama.attention.layer_norm_rms_epsilon", s.epsilon);
  return writer;
}

// The tensors of a Sizes{} model, without the one named `without`.
GgufWriter& add_tensors(GgufWriter& writer, const std::string& without = "") {
  const auto zeros = [&](const std::string& name, const std::vector<uint64_t>& extents) {
    uint64_t elements = 1;
    for (const uint64_t extent : extents) {
      elements *= extent;
    }
    if (name != without) {
      writer.tensor(name, extents, 0, std::string(4 * elements, '\0'));
    }
  };
  zeros("token_embd.weight", {8, 10});
  zeros("output_norm.weight", {8});
  zeros("blk.0.attn_norm.weight", {8});
  zeros("blk.0.attn_q.weight", {8, 8});
  zeros("blk.0.attn_k.weight", {8, 4});
  zeros("blk.0.attn_v.weight", {8, 4});
  zeros("blk.0.attn_output.weight", {8, 8});
  zeros("blk.0.ffn_norm.weight", {8});
  zeros("blk.0.ffn_gate.weight", {8, 16});
  zeros("blk.0.ffn_up.weight", {8, 16});
  zeros("blk.0.ffn_down.weight", {16, 8});
  return writer;
}

void refuse(const GgufWriter& writer, Code code, const std::vector<std::string>& parts) {
  const Saved saved(writer.bytes());
  const Result<Transformer> model = read_transformer(saved.file());
  REQUIRE_FALSE(model.ok());
  CHECK(model.status().code() == code);
  for (const std::string& part : parts) {
    CHECK_THAT(model.status().message(), Contains(part));
  }
}

TEST_CASE("a tiny llama is what it was written as") {
  const TinyLlama options{.type = TensorType::q4_1, .tied = false, .rope_factors = true};
  const Saved saved(testing::tiny_llama(options).bytes());
  const Result<Transformer> model = read_transformer(saved.file());
  CAPTURE(model.status().message());
  REQUIRE(model.ok());
  const TransformerConfig& c = model->config;
  CHECK(c.architecture == "llama");
  CHECK(c.layers == 2);
  CHECK(c.width == 64);
  CHECK(c.heads == 4);
  CHECK(c.kv_heads == 2);
  CHECK(c.head_size == 16);
  CHECK(c.ffn == 128);
  CHECK(c.vocabulary == testing::kTinyVocabulary);
  CHECK(c.context == 512);
  CHECK(c.rope_dimensions == 16);
  CHECK(c.rope_pairs == RopePairs::adjacent);
  CHECK(c.rope_base == 10'000.0);
  CHECK(c.rope_scale == 1.0);
  REQUIRE(c.rope_factors.size() == 8);
  CHECK(c.rope_factors[0] == 1.0f);
  CHECK(c.rope_factors[4] == 2.5f);
  CHECK(c.rms_epsilon == 1e-5f);
  CHECK_FALSE(c.tied);
  CHECK(model->weights.output == saved.file().find("output.weight"));
  REQUIRE(model->weights.layers.size() == 2);
  CHECK(model->weights.layers[1].down == saved.file().find("blk.1.ffn_down.weight"));
  CHECK(model->weights.layers[0].key->rows() == 32);
}

TEST_CASE("what a llama file may leave out, and what it may add") {
  GgufWriter writer = keys({});
  writer.key_text("llama.rope.scaling.type", "linear").key_f32("llama.rope.scaling.factor", 4.0f);
  writer.key_u32("llama.expert_count", 0);
  const Saved saved(add_tensors(writer).bytes());
  const Result<Transformer> model = read_transformer(saved.file());
  CAPTURE(model.status().message());
  REQUIRE(model.ok());
  CHECK(model->config.tied);
  CHECK(model->weights.output == model->weights.embedding);
  CHECK(model->config.rope_scale == 4.0);
  CHECK(model->config.rope_base == 10'000.0);

  GgufWriter arrays;  // some converters write one number a layer
  arrays.key_text("general.architecture", "llama")
      .key_u32("llama.block_count", 1)
      .key_u32("llama.embedding_length", 8)
      .key_ints("llama.feed_forward_length", {16})
      .key_ints("llama.attention.head_count", {2, 2})
      .key_ints("llama.attention.head_count_kv", {1, 1})
      .key_u32("llama.context_length", 64)
      .key_f32("llama.attention.layer_norm_rms_epsilon", 1e-6f);
  const Saved uniform(add_tensors(arrays).bytes());
  const Result<Transformer> same = read_transformer(uniform.file());
  CAPTURE(same.status().message());
  REQUIRE(same.ok());
  CHECK(same->config.kv_heads == 1);
  CHECK(same->config.rope_dimensions == 4);
}

TEST_CASE("sizes that cannot be") {
  const auto with = [](const Sizes& s) {
    GgufWriter writer = keys(s);
    return add_tensors(writer);
  };
  refuse(with({.layers = 0}), Code::corrupt, {"llama.block_count"});
  refuse(with({.layers = 1'025}), Code::limit, {"llama.block_count", "1025", "1024"});
  refuse(with({.layers = 2}), Code::corrupt, {"'blk.1.attn_norm.weight'", "missing"});
  refuse(with({.width = 16}), Code::corrupt, {"'token_embd.weight'", "8 x 10", "16 x 10"});
  refuse(with({.width = 65'537}), Code::limit, {"llama.embedding_length", "65537"});
  refuse(with({.ffn = 17}), Code::corrupt, {"'blk.0.ffn_gate.weight'", "8 x 16", "8 x 17"});
  refuse(with({.heads = 3}), Code::corrupt, {"llama.attention.head_count", "3"});
  refuse(with({.kv_heads = 2}), Code::corrupt, {"'blk.0.attn_k.weight'", "8 x 4", "8 x 8"});
  refuse(with({.kv_heads = 3}), Code::corrupt, {"llama.attention.head_count_kv", "3"});
  refuse(with({.rope = 3}), Code::corrupt, {"llama.rope.dimension_count", "3"});
  refuse(with({.rope = 6}), Code::corrupt, {"llama.rope.dimension_count", "6", "4"});
  refuse(with({.context = 0}), Code::corrupt, {"llama.context_length"});
  refuse(with({.context = 2'000'000}), Code::limit, {"llama.context_length", "2000000"});
  refuse(with({.epsilon = NAN}), Code::corrupt, {"layer_norm_rms_epsilon"});
  refuse(with({.epsilon = -1.0f}), Code::corrupt, {"layer_norm_rms_epsilon"});
}

TEST_CASE("every weight is needed, and none may be left over") {
  for (const std::string name :
       {"token_embd.weight", "output_norm.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight",
        "blk.0.attn_k.weight", "blk.0.attn_v.weight", "blk.0.attn_output.weight",
        "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight", "blk.0.ffn_up.weight",
        "blk.0.ffn_down.weight"}) {
    GgufWriter writer = keys({});
    refuse(add_tensors(writer, name), Code::corrupt, {"'" + name + "'"});
  }
  for (const std::string name :
       {"blk.0.attn_q.bias", "blk.0.attn_q_norm.weight", "blk.1.ffn_up.weight"}) {
    GgufWriter writer = keys({});
    add_tensors(writer).tensor(name, {8}, 0, std::string(32, '\0'));
    refuse(writer, Code::unavailable, {"'" + name + "'"});
  }
  GgufWriter halves = keys({});
  add_tensors(halves, "output_norm.weight")
      .tensor("output_norm.weight", {8}, 1, std::string(16, '\0'));
  refuse(halves, Code::unavailable, {"'output_norm.weight'", "F16"});
}

TEST_CASE("variants that would run wrong do not run") {
  const auto with = [](auto add) {
    GgufWriter writer = keys({});
    add(writer);
    return add_tensors(writer);
  };
  refuse(with([](GgufWriter& w) { w.key_text("llama.rope.scaling.type", "yarn"); }),
         Code::unavailable, {"llama.rope.scaling.type", "yarn"});
  refuse(with([](GgufWriter& w) { w.key_text("llama.rope.scaling.type", "linear"); }),
         Code::corrupt, {"scale_linear", "missing"});
  refuse(with([](GgufWriter& w) { w.key_u32("llama.expert_count", 8); }), Code::unavailable,
         {"llama.expert_count"});
  refuse(with([](GgufWriter& w) { w.key_u32("llama.attention.sliding_window", 32); }),
         Code::unavailable, {"llama.attention.sliding_window", "32"});
  refuse(with([](GgufWriter& w) { w.key_bool("llama.attention.causal", false); }),
         Code::unavailable, {"llama.attention.causal"});
  refuse(with([](GgufWriter& w) { w.key_u32("llama.attention.value_length", 8); }),
         Code::unavailable, {"llama.attention.value_length"});
  refuse(with([](GgufWriter& w) { w.key_f32("llama.rope.freq_base", INFINITY); }), Code::corrupt,
         {"llama.rope.freq_base"});
  refuse(with([](GgufWriter& w) { w.tensor("rope_freqs.weight", {2}, 0, std::string(8, '\0')); }),
         Code::corrupt, {"rope_freqs.weight", "factor 0"});
  refuse(with([](GgufWriter& w) { w.tensor("rope_freqs.weight", {3}, 0, std::string(12, '\0')); }),
         Code::corrupt, {"rope_freqs.weight", "3", "2"});
  GgufWriter other;
  other.key_text("general.architecture", "mamba");
  refuse(other, Code::unavailable, {"general.architecture", "mamba", "llama"});
  refuse(GgufWriter(), Code::corrupt, {"general.architecture", "missing"});
}

}  // namespace
}  // namespace thinkd::engine
