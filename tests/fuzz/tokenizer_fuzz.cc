// Any bytes through every pre-tokenizer and back; and any lines as a vocabulary.

#include <array>
#include <memory>
#include <string>

#include "base/text.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/fuzz/target.h"

using namespace thinkd;
using namespace thinkd::engine;

namespace {

constexpr std::array<const char*, 4> kPre = {"gpt-2", "llama-bpe", "qwen2", "smollm"};

std::unique_ptr<Tokenizer> bytes_and_a_few_words(const char* pre) {
  TokenizerSpec spec;
  spec.pre = pre;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    spec.pieces.emplace_back(spell_byte(static_cast<uint8_t>(byte)));
  }
  const auto merge = [&](const std::string& left, const std::string& right) {
    spec.pieces.push_back(left + right);
    spec.merges.push_back(left + " " + right);
  };
  merge("t", "h");
  merge("th", "e");
  merge(std::string(spell_byte(' ')), "the");
  merge("1", "2");
  merge("e", "e");
  spec.pieces.emplace_back("<|end|>");
  spec.types.assign(spec.pieces.size(), static_cast<uint32_t>(TokenType::normal));
  spec.types.back() = static_cast<uint32_t>(TokenType::control);
  auto made = Tokenizer::create(std::move(spec));
  return made ? *std::move(made) : nullptr;
}

void fuzz_text(const Tokenizer& tokenizer, std::string_view text) {
  const auto literal = tokenizer.encode(text);
  const auto special = tokenizer.encode_special(text);
  fuzz::expect(literal.ok() && special.ok(), "every byte has a token");
  fuzz::expect(tokenizer.decode(*literal, true) == text, "decode(encode(x)) = x");
  fuzz::expect(tokenizer.decode(*special, true) == text, "with control tokens, too");
  for (const Token token : *literal) {
    fuzz::expect(static_cast<size_t>(token) < 261, "literal text gives no control token");
  }
}

// Lines: "piece" or "left right".
void fuzz_spec(std::string_view text) {
  TokenizerSpec spec;
  spec.pre = "gpt-2";
  for (const std::string_view line : split(text, '\n')) {
    (line.find(' ') == std::string_view::npos ? spec.pieces : spec.merges).emplace_back(line);
  }
  const auto made = Tokenizer::create(std::move(spec));
  if (!made) {
    fuzz::expect(!made.status().message().empty(), "a refusal says why");
  } else if (const auto tokens = (*made)->encode(text)) {
    fuzz::expect((*made)->decode(*tokens, true) == text, "decode(encode(x)) = x");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::array<std::unique_ptr<Tokenizer>, kPre.size()> kTokenizers = {
      bytes_and_a_few_words(kPre[0]), bytes_and_a_few_words(kPre[1]),
      bytes_and_a_few_words(kPre[2]), bytes_and_a_few_words(kPre[3])};
  const std::string_view text = fuzz::text_of(data, size);
  for (const auto& tokenizer : kTokenizers) {
    fuzz::expect(tokenizer != nullptr, "the small vocabulary is one");
    fuzz_text(*tokenizer, text);
  }
  fuzz_spec(text);
  return 0;
}
