// Model files that lie: 200 seeded mutations of a small good one. Each gives an error that names
// what is wrong, or a model that takes a step; none may crash. Run under ASan and UBSan to mean
// something.

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "engine/model/language_model.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::engine {
namespace {

using testing::TinyRandom;

uint64_t header_end(const std::string& bytes) {
  const auto at = bytes.find("output_norm.weight");  // the last tensor but for a factor table
  return at + 60;
}

// One lie. `place` mostly falls in the header, where the parser lives.
std::string mutate(std::string bytes, TinyRandom& random) {
  const uint64_t header = header_end(bytes);
  const uint64_t place = random.below(random.below(4) == 0 ? bytes.size() : header);
  const uint64_t odd[] = {0,
                          1,
                          2,
                          31,
                          33,
                          255,
                          1 << 20,
                          (1 << 20) + 1,
                          0x7fffffff,
                          0x80000000,
                          0xffffffff,
                          uint64_t{1} << 62,
                          uint64_t{1} << 63,
                          ~uint64_t{0},
                          ~uint64_t{31}};
  switch (random.below(7)) {
    case 0:
      bytes.resize(place);
      break;
    case 1:
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.below(8)));
      break;
    case 2:  // lie about a number of 4 or 8 bytes, wherever one may stand
    case 3: {
      const uint64_t value = odd[random.below(std::size(odd))];
      const uint64_t size = random.below(2) == 0 ? 4 : 8;
      std::memcpy(bytes.data() + std::min<uint64_t>(place, bytes.size() - size), &value, size);
      break;
    }
    case 4:  // noise over a stretch
      for (uint64_t i = place; i < std::min<uint64_t>(bytes.size(), place + 64); ++i) {
        bytes[i] = static_cast<char>(random.next());
      }
      break;
    case 5:  // weights that are NaN and infinity
      for (uint64_t i = 0; i < 64; ++i) {
        const uint64_t at = header + random.below(bytes.size() - header - 4);
        const uint32_t value = random.below(2) == 0 ? 0x7fc07e01 : 0x7f807c00;
        std::memcpy(bytes.data() + at, &value, 4);
      }
      break;
    case 6:
      bytes.erase(place, 1 + random.below(16));
      break;
  }
  return bytes;
}

// Three tokens through the model, then logits.
void step(ModelRunner& runner) {
  const ModelShape& shape = runner.shape();
  REQUIRE(shape.page_bytes > 0);
  std::unique_ptr<uint8_t, decltype(&std::free)> page(
      static_cast<uint8_t*>(std::aligned_alloc(64, (shape.page_bytes + 63) / 64 * 64)), &std::free);
  REQUIRE(page != nullptr);
  std::vector<BlockRead> reads;
  for (uint32_t i = 0; i < 3; ++i) {
    reads.push_back({.page = page.get(), .from = 0, .to = i + 1, .shift = 0});
  }
  std::vector<Row> rows;
  for (uint32_t i = 0; i < 3; ++i) {
    rows.push_back({.token = i % shape.vocabulary,
                    .position = i,
                    .page = page.get(),
                    .slot = i,
                    .reads = std::span(reads).subspan(i, 1),
                    .query_position = i});
  }
  const std::vector<uint32_t> wanted = {2};
  std::vector<float> hidden(shape.width);
  runner.run(rows, wanted, hidden.data());
  std::vector<float> logits(shape.vocabulary);
  runner.logits(hidden.data(), 1, logits.data());
}

bool names_a_field(const std::string& text) {
  for (const char* word : {"key '", "key ", "tensor '", "tensor ", "magic", "version", "header",
                           "tokenizer", "head size", "piece", "token", "merge", "template"}) {
    if (text.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

TEST_CASE("200 lying model files: an error with a name, or a model that runs") {
  // Files this young are not remembered by their hash, so nothing is left in the user's cache.
  const std::string pattern =
      (std::filesystem::temp_directory_path() / "thinkd-lies-XXXXXX").string();
  std::string folder = pattern;
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  const std::string path = folder + "/m.gguf";
  const TensorType types[] = {TensorType::f32, TensorType::q4_1, TensorType::q8_0, TensorType::f16};
  uint32_t refused = 0;
  uint32_t ran = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    TinyRandom random(seed);
    const testing::TinyLlama options{.type = types[seed % 4],
                                     .seed = seed,
                                     .layers = 1,
                                     .tied = seed % 3 != 0,
                                     .rope_factors = seed % 5 == 0};
    std::string bytes = mutate(testing::tiny_llama(options).bytes(), random);
    if (random.below(4) == 0) {
      bytes = mutate(std::move(bytes), random);
    }
    REQUIRE(write_file(path, bytes).ok());
    auto model = load_language_model(path, {.threads = 1, .kv = std::nullopt, .isa = {}});
    if (!model.ok()) {
      ++refused;
      CAPTURE(model.status().message());
      CHECK(names_a_field(model.status().message()));
      CHECK(model.status().code() != Code::internal);
      continue;
    }
    ++ran;
    step(*(*model)->runner);
  }
  std::filesystem::remove_all(folder);
  std::cout << "lying files: " << refused << " refused by name, " << ran << " ran\n";
  CHECK(refused > 40);
  CHECK(ran > 20);
}

}  // namespace
}  // namespace thinkd::engine
