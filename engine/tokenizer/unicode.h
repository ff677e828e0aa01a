#pragma once
// The character classes that pre-tokenizers ask for, from tables that tools/unicode_tables.py
// writes, and a strict UTF-8 reader. Pure functions. Unicode 16, as the reference tokenizers have.

#include <cstdint>
#include <span>
#include <string_view>

namespace thinkd::engine {

enum class CharClass : uint8_t { other, letter, number, space };  // else, \p{L}, \p{N}, White_Space

struct ClassRange {
  uint32_t first;
  uint32_t last;
  CharClass kind;
};

// Sorted, disjoint; what is in no range is `other`.
std::span<const ClassRange> class_ranges();
std::string_view unicode_version();

CharClass char_class(uint32_t code_point);

struct Character {
  uint32_t code_point;  // U+FFFD for a byte that is not UTF-8
  uint32_t bytes;       // 1 to 4
};

// The character at `at` (inside the text). Overlong forms, surrogates and cut sequences are not
// UTF-8; each of their bytes is then a character of its own.
Character read_character(std::string_view text, size_t at);

}  // namespace thinkd::engine
