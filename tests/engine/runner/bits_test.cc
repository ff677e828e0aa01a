// The contract of bits: a row's hidden state does not depend on batch, chunk, threads, order of
// rows or where pages lie.

#include <cstring>

#include "tests/engine/runner/paged.h"
#include "tests/support/scratch.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

constexpr uint32_t kPrefix = 64;
constexpr uint32_t kTail = 9;

std::vector<Token> tokens_of(uint64_t seed, size_t count) {
  TinyRandom random(seed);
  std::vector<Token> tokens;
  for (size_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<Token>(random.below(kTinyVocabulary)));
  }
  return tokens;
}

// Branch b's tokens: a common prefix and a tail of its own.
std::vector<Token> branch_tokens(uint32_t branch) {
  std::vector<Token> tokens = tokens_of(1, kPrefix);
  const std::vector<Token> tail = tokens_of(100 + branch, kTail);
  tokens.insert(tokens.end(), tail.begin(), tail.end());
  return tokens;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Tail logits of each branch, decoded token by token together, the prefix computed once and shared.
std::vector<std::vector<float>> decode_together(ModelRunner& runner, uint32_t branches,
                                                bool reversed) {
  const ModelShape& shape = runner.shape();
  Pages pages(shape.page_bytes);
  Text prefix(shape, pages);
  logits_of(runner, prefix, tokens_of(1, kPrefix), 48);
  std::vector<Text> texts;
  for (uint32_t b = 0; b < branches; ++b) {
    texts.push_back(prefix.fork());
  }
  std::vector<std::vector<float>> out(branches);
  for (uint32_t step = 0; step < kTail; ++step) {
    std::vector<Row> rows;
    std::vector<uint32_t> wanted;
    std::vector<uint32_t> owners;
    for (uint32_t i = 0; i < branches; ++i) {
      const uint32_t branch = reversed ? branches - 1 - i : i;
      rows.push_back(texts[branch].next(branch_tokens(branch)[kPrefix + step]));
      wanted.push_back(reversed ? branches - 1 - i : i);
      owners.push_back(reversed ? i : branch);
    }
    std::vector<float> hidden(uint64_t{branches} * shape.width);
    std::vector<float> logits(uint64_t{branches} * shape.vocabulary);
    const uint64_t before = runner.weight_passes();
    runner.run(rows, wanted, hidden.data());
    CHECK(runner.weight_passes() == before + 1);
    runner.logits(hidden.data(), branches, logits.data());
    for (uint32_t i = 0; i < branches; ++i) {
      const float* at = logits.data() + uint64_t{i} * shape.vocabulary;
      out[owners[i]].insert(out[owners[i]].end(), at, at + shape.vocabulary);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("bits do not depend on batch, chunk, threads, order or addresses") {
  ScratchFolder folder;
  const std::string path = folder.path("tiny.gguf");
  TinyLlama tiny;
  tiny.type = TensorType::q4_1;
  tiny.embedding = TensorType::q8_0;
  REQUIRE(write_tiny_llama(path, tiny).ok());
  for (const std::string isa : {"portable", "auto"}) {
    for (const KvType kv : {KvType::f16, KvType::f32}) {
      ModelOptions options;
      options.threads = 1;
      options.isa = isa;
      options.kv = kv;
      const LoadedRunner one = load_runner(path, options);
      options.threads = 2;
      const LoadedRunner two = load_runner(path, options);
      const uint32_t vocabulary = one.runner->shape().vocabulary;

      // Each text alone, one token a call: the truth that all others must repeat.
      std::vector<std::vector<float>> alone;
      for (uint32_t branch = 0; branch < 32; ++branch) {
        Pages pages(one.runner->shape().page_bytes);
        Text text(one.runner->shape(), pages);
        alone.push_back(logits_of(*one.runner, text, branch_tokens(branch), 1));
      }
      for (const LoadedRunner* loaded : {&one, &two}) {
        for (const size_t chunk : {size_t{7}, size_t{16}, size_t{512}}) {
          Pages pages(loaded->runner->shape().page_bytes);
          Text text(loaded->runner->shape(), pages);
          INFO(isa << " chunk " << chunk);
          CHECK(same_bits(logits_of(*loaded->runner, text, branch_tokens(3), chunk), alone[3]));
        }
        for (const uint32_t batch : {1u, 7u, 32u}) {
          for (const bool reversed : {false, true}) {
            const auto together = decode_together(*loaded->runner, batch, reversed);
            for (uint32_t branch = 0; branch < batch; ++branch) {
              INFO(isa << " batch " << batch << " branch " << branch << " reversed " << reversed);
              const std::vector<float> tail(alone[branch].begin() + uint64_t{kPrefix} * vocabulary,
                                            alone[branch].end());
              CHECK(same_bits(together[branch], tail));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("rows that are not wanted still leave their keys") {
  ScratchFolder folder;
  const std::string path = folder.path("tiny.gguf");
  REQUIRE(write_tiny_llama(path, {}).ok());
  const LoadedRunner loaded = load_runner(path, {});
  ModelRunner& runner = *loaded.runner;
  const ModelShape& shape = runner.shape();
  const std::vector<Token> tokens = tokens_of(7, 41);
  Pages pages(shape.page_bytes);
  Text plain(shape, pages);
  const std::vector<float> expected = logits_of(runner, plain, tokens, 41);

  Text text(shape, pages);
  std::vector<Row> rows;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    rows.push_back(text.next(tokens[i]));
  }
  runner.run(rows, {}, nullptr);
  const std::vector<float> last = logits_of(runner, text, {tokens.back()}, 1);
  CHECK(same_bits(last, {expected.end() - shape.vocabulary, expected.end()}));
}

TEST_CASE("weights that are not numbers do not crash") {
  ScratchFolder folder;
  const std::string path = folder.path("tiny.gguf");
  std::string bytes = tiny_llama({}).bytes();
  const float poison[] = {NAN, INFINITY, -INFINITY, 1e-42f, 3e38f};
  TinyRandom random(9);
  for (int i = 0; i < 400; ++i) {
    const uint64_t at = bytes.size() / 2 / 4 * 4 + random.below(bytes.size() / 8) * 4;
    std::memcpy(bytes.data() + at, &poison[i % 5], sizeof(float));
  }
  REQUIRE(write_file(path, bytes).ok());
  for (const std::string isa : {"portable", "auto"}) {
    ModelOptions options;
    options.isa = isa;
    const LoadedRunner loaded = load_runner(path, options);
    Pages pages(loaded.runner->shape().page_bytes);
    Text text(loaded.runner->shape(), pages);
    CHECK(logits_of(*loaded.runner, text, tokens_of(8, 50), 20).size() == 50 * kTinyVocabulary);
  }
}
