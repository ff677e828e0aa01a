#include "engine/tokenizer/unicode.h"

#include <random>
#include <string>

#include "base/text.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

TEST_CASE("class ranges are sorted and disjoint, and classes are those of known characters") {
  uint32_t next = 0;
  size_t letters = 0;
  size_t numbers = 0;
  size_t spaces = 0;
  for (const ClassRange& range : class_ranges()) {
    CHECK(range.first >= next);
    CHECK(range.last >= range.first);
    next = range.last + 1;
    const size_t count = range.last - range.first + 1;
    (range.kind == CharClass::letter   ? letters
     : range.kind == CharClass::number ? numbers
                                       : spaces) += count;
  }
  // The totals of Unicode 16.0.
  CHECK(unicode_version() == "16.0.0");
  CHECK(letters == 141'028);
  CHECK(numbers == 1'911);
  CHECK(spaces == 25);
  for (const uint32_t letter :
       {0x41u, 0x7Au, 0xAAu, 0xDFu, 0x3B1u, 0x5D0u, 0x4E00u, 0xAC00u, 0x2A6DFu}) {
    CHECK(char_class(letter) == CharClass::letter);
  }
  for (const uint32_t number : {0x30u, 0x39u, 0xB2u, 0xBCu, 0x663u, 0x2167u, 0x3007u, 0xFF11u}) {
    CHECK(char_class(number) == CharClass::number);
  }
  for (const uint32_t space :
       {0x9u, 0xDu, 0x20u, 0x85u, 0xA0u, 0x1680u, 0x2028u, 0x202Fu, 0x3000u}) {
    CHECK(char_class(space) == CharClass::space);
  }
  for (const uint32_t other :
       {0u, 0x1Cu, 0x5Fu, 0xADu, 0x301u, 0x200Bu, 0xFEFFu, 0x1F600u, 0x10FFFFu}) {
    CHECK(char_class(other) == CharClass::other);
  }
}

TEST_CASE("every character reads back, and nothing else does") {
  for (uint32_t code_point = 0x80; code_point < 0x110000;
       code_point += code_point < 0x3000 ? 1 : 61) {
    std::string text;
    const auto add = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (code_point < 0x800) {
      add(0xC0 | code_point >> 6);
    } else if (code_point < 0x10000) {
      add(0xE0 | code_point >> 12);
      add(0x80 | (code_point >> 6 & 0x3F));
    } else {
      add(0xF0 | code_point >> 18);
      add(0x80 | (code_point >> 12 & 0x3F));
      add(0x80 | (code_point >> 6 & 0x3F));
    }
    add(0x80 | (code_point & 0x3F));
    const Character read = read_character(text, 0);
    const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
    CAPTURE(code_point);
    CHECK(read.code_point == (surrogate ? 0xFFFD : code_point));
    CHECK(read.bytes == (surrogate ? 1 : text.size()));
    CHECK(read_character(text.substr(0, text.size() - 1), 0).bytes == 1);
  }
  for (const std::string bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xF0\x80\x80\x80",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3("}) {
    CHECK(read_character(bad, 0).code_point == 0xFFFD);
    CHECK(read_character(bad, 0).bytes == 1);
  }
}

TEST_CASE("the reader and base agree on what is UTF-8") {
  const uint64_t seed = 3;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  constexpr uint8_t kInteresting[] = {0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2,
                                      0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = 1 + random() % 4; i > 0; --i) {
      text.push_back(static_cast<char>(kInteresting[random() % std::size(kInteresting)]));
    }
    bool valid = true;
    for (size_t at = 0; at < text.size();) {
      const Character character = read_character(text, at);
      valid &= character.bytes != 1 || character.code_point < 0x80;
      at += character.bytes;
    }
    CHECK(valid == valid_utf8(text));
  }
}

TEST_CASE("bytes are spelled as GPT-2 does") {
  CHECK(spell_byte(' ') == "\u0120");
  CHECK(spell_byte('\n') == "\u010A");
  CHECK(spell_byte('!') == "!");
  CHECK(spell_byte(0) == "\u0100");
  CHECK(spell_byte(0x7F) == "\u0121");
  CHECK(spell_byte(0xA0) == "\u0142");
  CHECK(spell_byte(0xAD) == "\u0143");
  CHECK(spell_byte(0xFF) == "\u00FF");
  std::string all;
  std::string spelled;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
    spelled += spell_byte(static_cast<uint8_t>(byte));
  }
  CHECK(unspell(spelled) == all);
  CHECK_FALSE(unspell("a b"));
  CHECK_FALSE(unspell("\u0144"));
  CHECK_FALSE(unspell("\xC4"));
}

}  // namespace thinkd::engine
