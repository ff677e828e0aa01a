#include "tests/engine/tokenizer/smollm2.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

TokenizerSpec smollm2_spec(const std::string& pre) {
  const Result<std::string> file =
      read_file(THINKD_SOURCE_DIR "/tests/data/tokenizer/smollm2.vocab", 1 << 20);
  REQUIRE(file.ok());
  std::vector<std::string_view> rows = split(*file, '\n');
  const std::vector<std::string_view> counts = split(rows.at(0), ' ');
  const uint64_t plain = parse_uint(counts.at(0)).value();
  const uint64_t merges = parse_uint(counts.at(1)).value();
  REQUIRE(rows.size() >= 1 + plain + merges);

  TokenizerSpec spec;
  spec.pre = pre;
  for (uint64_t i = 0; i < plain; ++i) {
    const std::string_view row = rows[1 + i];
    spec.types.push_back(static_cast<uint32_t>(parse_uint(row.substr(0, 1)).value()));
    spec.pieces.emplace_back(row.substr(2));
  }
  for (uint64_t i = 0; i < merges; ++i) {
    const std::string_view row = rows[1 + plain + i];
    const size_t space = row.find(' ');
    spec.types.push_back(1);
    spec.pieces.push_back(std::string(row.substr(0, space)) + std::string(row.substr(space + 1)));
    spec.merges.emplace_back(row);
  }
  spec.bos = 1;
  spec.eos = 2;
  return spec;
}

TokenizerSpec smollm2_spec_with_all_bytes(const std::string& pre) {
  TokenizerSpec spec = smollm2_spec(pre);
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const std::string spelling(spell_byte(static_cast<uint8_t>(byte)));
    if (std::find(spec.pieces.begin(), spec.pieces.end(), spelling) == spec.pieces.end()) {
      spec.pieces.push_back(spelling);
      spec.types.push_back(1);
    }
  }
  return spec;
}

std::unique_ptr<Tokenizer> make_tokenizer(TokenizerSpec spec) {
  Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(std::move(spec));
  INFO(tokenizer.status().message());
  REQUIRE(tokenizer.ok());
  return *std::move(tokenizer);
}

}  // namespace thinkd::engine
