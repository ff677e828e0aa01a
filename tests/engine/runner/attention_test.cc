// Attention over random lists of pages with shifts, against the plain formula in double: a key
// stored at p and shifted by s is a key at p + s.

#include "engine/runner/attention.h"

#include <cmath>

#include "tests/engine/runner/paged.h"
#include "tests/support/tiny_llama.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

using Vector = std::vector<double>;

Vector rotated(const Vector& x, double position, const TransformerConfig& config) {
  Vector out = x;
  for (uint32_t i = 0; i < config.rope_dimensions / 2; ++i) {
    const bool adjacent = config.rope_pairs == RopePairs::adjacent;
    const uint32_t a = adjacent ? 2 * i : i;
    const uint32_t b = adjacent ? 2 * i + 1 : i + config.rope_dimensions / 2;
    const double angle = position * std::pow(config.rope_base, -2.0 * i / config.rope_dimensions);
    out[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
    out[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
  }
  return out;
}

struct StoredRow {
  std::vector<Vector> keys;  // by KV head, not rotated
  std::vector<Vector> values;
  int64_t position = 0;
};

struct Stored {
  PageData page = nullptr;
  std::vector<StoredRow> rows;
};

Stored make_page(const TransformerConfig& config, const PageLayout& layout, Pages& pages,
                 const Kernels& kernels, RopeTable& rope, int64_t start, TinyRandom& random) {
  Stored stored = {pages.make(), std::vector<StoredRow>(kBlockTokens)};
  for (uint32_t slot = 0; slot < kBlockTokens; ++slot) {
    StoredRow& row = stored.rows[slot];
    row.position = start + slot;
    rope.prepare(row.position);
    for (uint32_t head = 0; head < config.kv_heads; ++head) {
      std::vector<float> key(config.head_size);
      std::vector<float> value(config.head_size);
      for (uint32_t d = 0; d < config.head_size; ++d) {
        key[d] = random.uniform() * 2 - 1;
        value[d] = random.uniform() * 2 - 1;
      }
      std::vector<float> turned(config.head_size);
      kernels.rotate(key.data(), rope.at(row.position), config.rope_pairs, config.rope_dimensions,
                     config.head_size, turned.data());
      std::memcpy(layout.key(stored.page, 1, head, slot), turned.data(), layout.row_bytes());
      std::memcpy(layout.value(stored.page, 1, head, slot), value.data(), layout.row_bytes());
      row.keys.emplace_back(key.begin(), key.end());
      row.values.emplace_back(value.begin(), value.end());
    }
  }
  return stored;
}

}  // namespace

TEST_CASE("attention over pages with shifts equals the formula") {
  TinyRandom random(41);
  for (const Kernels* kernels : all_kernels()) {
    for (const RopePairs pairs : {RopePairs::adjacent, RopePairs::halves}) {
      TransformerConfig config;
      config.layers = 2;
      config.heads = 6;
      config.kv_heads = 2;
      config.head_size = 24;
      config.rope_dimensions = 16;
      config.rope_pairs = pairs;
      const PageLayout layout = {config.layers, config.kv_heads, config.head_size, KvType::f32};
      Pages pages(layout.page_bytes());
      RopeTable rope(config);
      ThreadPool pool(2);
      Attention attention(config, layout, *kernels, rope, pool);
      std::vector<Stored> stored;
      for (int i = 0; i < 6; ++i) {
        stored.push_back(make_page(config, layout, pages, *kernels, rope,
                                   static_cast<int64_t>(random.below(3000)), random));
      }
      constexpr uint32_t kRows = 40;
      std::vector<Row> rows(kRows);
      std::vector<std::vector<BlockRead>> reads(kRows);
      std::vector<uint32_t> chosen;
      std::vector<std::vector<uint32_t>> page_of(kRows);
      for (uint32_t r = 0; r < kRows; ++r) {
        rows[r].query_position = static_cast<int64_t>(random.below(5000));
        const uint64_t count = 1 + random.below(5);
        for (uint64_t i = 0; i < count; ++i) {
          const auto which = static_cast<uint32_t>(i == 0 ? random.below(2) : random.below(6));
          const auto from = static_cast<uint32_t>(random.below(32));
          const auto to = static_cast<uint32_t>(from + 1 + random.below(32 - from));
          const int64_t shift =
              random.below(2) == 0 ? 0 : static_cast<int64_t>(random.below(4000)) - 2000;
          reads[r].push_back({stored[which].page, from, to, shift});
          page_of[r].push_back(which);
          rope.prepare(rows[r].query_position - shift);
        }
        rows[r].reads = reads[r];
        if (r % 3 != 1) {
          chosen.push_back(r);
        }
      }
      std::vector<float> queries(chosen.size() * config.queries());
      for (float& value : queries) {
        value = random.uniform() * 4 - 2;
      }
      std::vector<float> out(queries.size());
      attention.run(plan_attention(rows, chosen, 3), 1, queries.data(), out.data());
      double worst = 0;
      for (size_t c = 0; c < chosen.size(); ++c) {
        for (uint32_t head = 0; head < config.heads; ++head) {
          const uint64_t offset = c * config.queries() + head * config.head_size;
          const Vector query(queries.begin() + offset, queries.begin() + offset + config.head_size);
          const Row& row = rows[chosen[c]];
          const Vector turned = rotated(query, static_cast<double>(row.query_position), config);
          Vector scores;
          Vector sum(config.head_size);
          double total = 0;
          for (size_t i = 0; i < row.reads.size(); ++i) {
            const BlockRead& read = row.reads[i];
            for (uint32_t slot = read.from; slot < read.to; ++slot) {
              const StoredRow& key = stored[page_of[chosen[c]][i]].rows[slot];
              const Vector at = rotated(key.keys[head / 3],
                                        static_cast<double>(key.position + read.shift), config);
              double score = 0;
              for (uint32_t d = 0; d < config.head_size; ++d) {
                score += turned[d] * at[d];
              }
              const double weight =
                  std::exp(score / std::sqrt(static_cast<double>(config.head_size)));
              total += weight;
              for (uint32_t d = 0; d < config.head_size; ++d) {
                sum[d] += weight * key.values[head / 3][d];
              }
            }
          }
          for (uint32_t d = 0; d < config.head_size; ++d) {
            worst = std::max(worst, std::abs(out[offset + d] - sum[d] / total));
          }
        }
      }
      INFO(kernels->name);
      CHECK(worst < 1e-4);
    }
  }
}
