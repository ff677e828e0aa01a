// Tokens a second of the transformer runner alone: prefill of 512, then decode of 1, 8 and 32
// branches that share these 512 as a prefix. Prints JSON lines.
//
//   runner_bench MODEL.gguf [THREADS [ISA]]

#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/model/language_model.h"
#include "engine/model/transformer.h"
#include "engine/runner/transformer_runner.h"

namespace thinkd::engine {
namespace {

constexpr uint32_t kPrefix = 512;
constexpr uint32_t kSteps = 16;

// Wall and processor seconds: the second tells the rate on a machine that others use too.
struct Moment {
  double wall = 0;
  double cpu = 0;
};

Moment now() {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(),
          static_cast<double>(std::clock()) / CLOCKS_PER_SEC};
}

void report(const char* bench, uint32_t batch, uint32_t tokens, const Moment& start,
            const std::string& isa) {
  const Moment end = now();
  std::printf(
      "{\"bench\":\"%s\",\"batch\":%u,\"context\":%u,\"value\":%.1f,\"unit\":\"tokens/s\","
      "\"per_cpu_second\":%.1f,\"isa\":\"%s\"}\n",
      bench, batch, kPrefix, tokens / (end.wall - start.wall), tokens / (end.cpu - start.cpu),
      isa.c_str());
  std::fflush(stdout);
}

class Pages {
 public:
  explicit Pages(uint64_t page_bytes) : words_((page_bytes + 63) / 64) {}
  PageData make() {
    pages_.push_back(std::make_unique<Line[]>(words_));
    return reinterpret_cast<uint8_t*>(pages_.back().get());
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64] = {};
  };
  uint64_t words_;
  std::vector<std::unique_ptr<Line[]>> pages_;
};

void bench(ModelRunner& runner, const std::string& isa) {
  const ModelShape& shape = runner.shape();
  Pages pages(shape.page_bytes);
  std::vector<BlockRead> prefix;
  std::vector<std::vector<BlockRead>> reads(kPrefix);
  std::vector<Row> rows(kPrefix);
  for (uint32_t i = 0; i < kPrefix; ++i) {
    if (i % kBlockTokens == 0) {
      prefix.push_back({pages.make(), 0, 0, 0});
    }
    prefix.back().to = i % kBlockTokens + 1;
    reads[i] = prefix;
    rows[i] = {
        (i * 7919 + 1) % shape.vocabulary, i, prefix.back().page, i % kBlockTokens, reads[i], i};
  }
  std::vector<float> hidden(uint64_t{32} * shape.width);
  std::vector<float> logits(uint64_t{32} * shape.vocabulary);
  const uint32_t last = kPrefix - 1;
  for (int round = 0; round < 2; ++round) {
    const Moment start = now();
    runner.run(rows, std::span(&last, 1), hidden.data());
    if (round == 1) {
      report("prefill", 1, kPrefix, start, isa);
    }
  }
  for (const uint32_t batch : {1u, 2u, 4u, 8u, 16u, 32u}) {
    std::vector<std::vector<BlockRead>> branch_reads(batch, prefix);
    for (std::vector<BlockRead>& list : branch_reads) {
      list.push_back({pages.make(), 0, 0, 0});
    }
    std::vector<uint32_t> wanted(batch);
    const Moment start = now();
    for (uint32_t step = 0; step < kSteps; ++step) {
      std::vector<Row> decode(batch);
      for (uint32_t b = 0; b < batch; ++b) {
        branch_reads[b].back().to = step + 1;
        wanted[b] = b;
        decode[b] = {(b * 131 + step * 17 + 5) % shape.vocabulary,
                     kPrefix + step,
                     branch_reads[b].back().page,
                     step,
                     branch_reads[b],
                     kPrefix + step};
      }
      runner.run(decode, wanted, hidden.data());
      runner.logits(hidden.data(), batch, logits.data());
    }
    report("decode", batch, batch * kSteps, start, isa);
  }
}

int run(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: runner_bench MODEL.gguf [THREADS [ISA]]\n");
    return 2;
  }
  Result<GgufFile> opened = GgufFile::open(argv[1]);
  if (!opened) {
    std::fprintf(stderr, "%s\n", opened.status().message().c_str());
    return 1;
  }
  auto file = std::make_shared<const GgufFile>(*std::move(opened));
  Result<Transformer> transformer = read_transformer(*file);
  if (!transformer) {
    std::fprintf(stderr, "%s\n", transformer.status().message().c_str());
    return 1;
  }
  ModelOptions options;
  options.threads = argc > 2 ? static_cast<uint32_t>(parse_uint(argv[2]).value_or(0)) : 0;
  options.isa = argc > 3 ? argv[3] : "";
  Result<std::unique_ptr<ModelRunner>> runner =
      make_transformer_runner(file, transformer->config, transformer->weights, options);
  if (!runner) {
    std::fprintf(stderr, "%s\n", runner.status().message().c_str());
    return 1;
  }
  bench(**runner, options.isa.empty() ? "auto" : options.isa);
  return 0;
}

}  // namespace
}  // namespace thinkd::engine

int main(int argc, char** argv) { return thinkd::engine::run(argc, argv); }
