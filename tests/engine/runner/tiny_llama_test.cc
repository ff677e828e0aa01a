// The whole runner against a transformer written here plainly in double: no blocks, no cache, no
// tiles.

#include <cmath>

#include "tests/engine/runner/paged.h"
#include "tests/support/scratch.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

using Vector = std::vector<double>;

Vector floats_of(const GgufTensor& tensor) {
  std::vector<float> floats(tensor.elements());
  dequantize(tensor.type, tensor.data.data(), floats.size(), floats.data());
  return Vector(floats.begin(), floats.end());
}

Vector times(const GgufTensor& tensor, const Vector& x) {
  const Vector weights = floats_of(tensor);
  Vector out(tensor.rows());
  for (size_t r = 0; r < out.size(); ++r) {
    for (size_t c = 0; c < x.size(); ++c) {
      out[r] += weights[r * x.size() + c] * x[c];
    }
  }
  return out;
}

Vector normal(const GgufTensor& tensor, const Vector& x) {
  const Vector weight = floats_of(tensor);
  double squares = 0;
  for (const double value : x) {
    squares += value * value;
  }
  Vector out(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    out[i] = x[i] / std::sqrt(squares / static_cast<double>(x.size()) + 1e-5) * weight[i];
  }
  return out;
}

void add(Vector& x, const Vector& y) {
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] += y[i];
  }
}

// Llama's GGUF files rotate (2i, 2i+1).
void rotate(Vector& x, uint32_t head_size, double position, const TinyLlama& tiny) {
  const uint32_t pairs = head_size / 2;
  for (size_t head = 0; head < x.size(); head += head_size) {
    for (uint32_t i = 0; i < pairs; ++i) {
      double frequency = std::pow(10000.0, -static_cast<double>(i) / pairs);
      frequency /= tiny.rope_linear.value_or(1.0f);
      if (tiny.rope_factors) {
        frequency /= 1.0f + 3.0f * static_cast<float>(i) / static_cast<float>(pairs);
      }
      const double cosine = std::cos(position * frequency);
      const double sine = std::sin(position * frequency);
      const double a = x[head + 2 * i];
      const double b = x[head + 2 * i + 1];
      x[head + 2 * i] = a * cosine - b * sine;
      x[head + 2 * i + 1] = a * sine + b * cosine;
    }
  }
}

Vector attend(const Vector& query, const std::vector<Vector>& keys,
              const std::vector<Vector>& values, const TinyLlama& tiny) {
  const uint32_t size = tiny.head_size();
  Vector out(query.size());
  for (uint32_t head = 0; head < tiny.heads; ++head) {
    const uint32_t kv = head / (tiny.heads / tiny.kv_heads);
    Vector weights;
    double total = 0;
    for (const Vector& key : keys) {
      double score = 0;
      for (uint32_t d = 0; d < size; ++d) {
        score += query[head * size + d] * key[kv * size + d];
      }
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(size))));
      total += weights.back();
    }
    for (size_t j = 0; j < keys.size(); ++j) {
      for (uint32_t d = 0; d < size; ++d) {
        out[head * size + d] += weights[j] / total * values[j][kv * size + d];
      }
    }
  }
  return out;
}

std::vector<Vector> plain_logits(const LoadedRunner& loaded, const TinyLlama& tiny,
                                 const std::vector<Token>& tokens) {
  const TransformerWeights& weights = loaded.weights;
  const Vector embedding = floats_of(*weights.embedding);
  std::vector<std::vector<Vector>> keys(tiny.layers);
  std::vector<std::vector<Vector>> values(tiny.layers);
  std::vector<Vector> out;
  for (size_t t = 0; t < tokens.size(); ++t) {
    const auto from = embedding.begin() + tokens[t] * tiny.width();
    Vector x(from, from + tiny.width());
    for (uint32_t l = 0; l < tiny.layers; ++l) {
      const LayerWeights& layer = weights.layers[l];
      const Vector h = normal(*layer.attention_norm, x);
      Vector query = times(*layer.query, h);
      Vector key = times(*layer.key, h);
      rotate(query, tiny.head_size(), static_cast<double>(t), tiny);
      rotate(key, tiny.head_size(), static_cast<double>(t), tiny);
      keys[l].push_back(key);
      values[l].push_back(times(*layer.value, h));
      add(x, times(*layer.attention_output, attend(query, keys[l], values[l], tiny)));
      const Vector n = normal(*layer.ffn_norm, x);
      Vector gate = times(*layer.gate, n);
      const Vector up = times(*layer.up, n);
      for (size_t i = 0; i < gate.size(); ++i) {
        gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      }
      add(x, times(*layer.down, gate));
    }
    out.push_back(times(*weights.output, normal(*weights.output_norm, x)));
  }
  return out;
}

double largest_difference(const TinyLlama& tiny, const ModelOptions& options) {
  ScratchFolder folder;
  const std::string path = folder.path("tiny.gguf");
  REQUIRE(write_tiny_llama(path, tiny).ok());
  const LoadedRunner loaded = load_runner(path, options);
  TinyRandom random(tiny.seed);
  std::vector<Token> tokens;
  for (int i = 0; i < 70; ++i) {
    tokens.push_back(static_cast<Token>(random.below(kTinyVocabulary)));
  }
  Pages pages(loaded.runner->shape().page_bytes);
  Text text(loaded.runner->shape(), pages);
  const std::vector<float> found = logits_of(*loaded.runner, text, tokens, 16);
  const std::vector<Vector> exact = plain_logits(loaded, tiny, tokens);
  double worst = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(found[i] - exact[i / kTinyVocabulary][i % kTinyVocabulary]);
    worst = difference <= worst ? worst : difference;  // NaN is kept
  }
  return worst;
}

}  // namespace

TEST_CASE("tiny models of every kind of weights equal the plain transformer") {
  for (const std::string isa : {"portable", "auto"}) {
    ModelOptions options;
    options.compute = ComputeMode::f32;
    options.threads = 2;
    options.isa = isa;
    for (const TensorType type :
         {TensorType::f32, TensorType::q4_1, TensorType::q8_0, TensorType::q5_0}) {
      TinyLlama tiny;
      tiny.type = type;
      tiny.seed = 5;
      INFO(isa << " " << info(type).name);
      CHECK(largest_difference(tiny, options) < 1e-4);
    }
    TinyLlama variant;
    variant.type = TensorType::f16;
    variant.tied = false;
    variant.layers = 3;
    variant.kv_heads = 1;
    variant.rope_factors = true;
    CHECK(largest_difference(variant, options) < 1e-4);
    TinyLlama linear;
    linear.rope_linear = 4.0f;
    linear.kv_heads = 4;
    CHECK(largest_difference(linear, options) < 1e-4);
  }
  ModelOptions halves;
  CHECK(largest_difference({}, halves) < 0.02);  // keys and values kept as f16
}

TEST_CASE("the runner's shape counts weights and bytes") {
  ScratchFolder folder;
  const std::string path = folder.path("tiny.gguf");
  REQUIRE(write_tiny_llama(path, {}).ok());
  ModelOptions options;
  options.isa = "portable";
  const LoadedRunner loaded = load_runner(path, options);
  const ModelShape& shape = loaded.runner->shape();
  // Two layers of q 64x64, k and v 32x64, o 64x64, three of 128x64; the output 303x64.
  CHECK(shape.weights_per_row == 2 * (4096 + 2048 + 2048 + 4096 + 3 * 8192) + 303 * 64);
  CHECK(shape.page_bytes == 2 * 2 * 2 * 32 * 16 * 2);
  CHECK(shape.attention_flops_per_key == 4 * 2 * 4 * 16);
  CHECK(shape.shifts);
  CHECK_THAT(loaded.runner->fingerprint(), Contains("portable"));
  CHECK(loaded.runner->weight_passes() == 0);
}
