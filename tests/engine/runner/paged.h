#pragma once
// Pages and rows for tests of the runner: a text laid out in blocks, run in chunks.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/language_model.h"
#include "engine/model/transformer.h"
#include "engine/runner/transformer_runner.h"
#include "tests/support/catch.h"

namespace thinkd::testing {

class Pages {
 public:
  explicit Pages(uint64_t page_bytes) : lines_((page_bytes + 63) / 64) {}

  // A fresh page full of bytes that are NaN in both key types: what is read unwritten shows.
  engine::PageData make() {
    pages_.push_back(std::make_unique<Line[]>(lines_));
    std::memset(pages_.back().get(), 0xff, lines_ * sizeof(Line));
    return pages_.back()[0].bytes;
  }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  uint64_t lines_;
  std::vector<std::unique_ptr<Line[]>> pages_;
};

struct LoadedRunner {
  engine::TransformerConfig config;
  std::shared_ptr<const engine::GgufFile> file;
  engine::TransformerWeights weights;
  std::unique_ptr<engine::ModelRunner> runner;
};

inline LoadedRunner load_runner(const std::string& path, const engine::ModelOptions& options) {
  Result<engine::GgufFile> opened = engine::GgufFile::open(path);
  INFO((opened ? std::string() : opened.status().message()));
  REQUIRE(opened.ok());
  LoadedRunner loaded;
  loaded.file = std::make_shared<const engine::GgufFile>(*std::move(opened));
  Result<engine::Transformer> transformer = engine::read_transformer(*loaded.file);
  INFO((transformer ? std::string() : transformer.status().message()));
  REQUIRE(transformer.ok());
  loaded.config = transformer->config;
  loaded.weights = transformer->weights;
  Result<std::unique_ptr<engine::ModelRunner>> runner =
      engine::make_transformer_runner(loaded.file, loaded.config, loaded.weights, options);
  REQUIRE(runner.ok());
  loaded.runner = *std::move(runner);
  return loaded;
}

// One branch: its tokens so far and the pages that keep them.
class Text {
 public:
  Text(const engine::ModelShape& shape, Pages& pages) : shape_(&shape), pages_(&pages) {}

  // The row of one more token; the page and reads stay with this object.
  engine::Row next(engine::Token token) {
    const uint32_t slot = length_ % engine::kBlockTokens;
    if (slot == 0) {
      blocks_.push_back({pages_->make(), 0, 0, 0});
    }
    blocks_.back().to = slot + 1;
    reads_.push_back(std::make_unique<std::vector<engine::BlockRead>>(blocks_));
    const engine::Row row = {token, length_, blocks_.back().page, slot, *reads_.back(), length_};
    ++length_;
    return row;
  }

  int64_t length() const { return length_; }

  // A copy that shares the full blocks; the text is a multiple of a block long.
  Text fork() const {
    REQUIRE(length_ % engine::kBlockTokens == 0);
    Text copy(*shape_, *pages_);
    copy.blocks_ = blocks_;
    copy.length_ = length_;
    return copy;
  }

 private:
  const engine::ModelShape* shape_;
  Pages* pages_;
  std::vector<engine::BlockRead> blocks_;
  std::vector<std::unique_ptr<std::vector<engine::BlockRead>>> reads_;
  int64_t length_ = 0;
};

// The logits after each of `tokens`, run `chunk` tokens at a time.
inline std::vector<float> logits_of(engine::ModelRunner& runner, Text& text,
                                    const std::vector<engine::Token>& tokens, size_t chunk) {
  const engine::ModelShape& shape = runner.shape();
  std::vector<float> out(tokens.size() * shape.vocabulary);
  for (size_t done = 0; done < tokens.size(); done += chunk) {
    const size_t count = std::min(chunk, tokens.size() - done);
    std::vector<engine::Row> rows;
    std::vector<uint32_t> wanted;
    for (size_t i = 0; i < count; ++i) {
      rows.push_back(text.next(tokens[done + i]));
      wanted.push_back(static_cast<uint32_t>(i));
    }
    std::vector<float> hidden(count * shape.width);
    runner.run(rows, wanted, hidden.data());
    runner.logits(hidden.data(), static_cast<uint32_t>(count),
                  out.data() + done * shape.vocabulary);
  }
  return out;
}

}  // namespace thinkd::testing
