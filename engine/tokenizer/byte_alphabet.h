#pragma once
// The spelling of bytes in a byte-level vocabulary (GPT-2): printable Latin-1 stands for itself,
// the other 68 bytes are the characters from U+0100 up, in order. Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thinkd::engine {

// The character that stands for a byte, as UTF-8.
std::string_view spell_byte(uint8_t byte);

// The bytes a spelling stands for; none where a character in it stands for no byte.
std::optional<std::string> unspell(std::string_view piece);

}  // namespace thinkd::engine
