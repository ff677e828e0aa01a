#include "engine/tokenizer/byte_alphabet.h"

#include <array>

#include "engine/tokenizer/unicode.h"

namespace thinkd::engine {

namespace {

constexpr uint32_t kShifted = 68;  // bytes that do not stand for themselves

struct Alphabet {
  std::array<std::array<char, 2>, 256> spelling{};
  std::array<uint8_t, 256> length{};
  std::array<uint8_t, 256 + kShifted> byte_of{};
  std::array<bool, 256 + kShifted> known{};
};

constexpr bool stands_for_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  uint32_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t code_point = stands_for_itself(byte) ? byte : next++;
    alphabet.byte_of[code_point] = static_cast<uint8_t>(byte);
    alphabet.known[code_point] = true;
    if (code_point < 0x80) {
      alphabet.spelling[byte] = {static_cast<char>(code_point), 0};
      alphabet.length[byte] = 1;
    } else {
      alphabet.spelling[byte] = {static_cast<char>(0xC0 | code_point >> 6),
                                 static_cast<char>(0x80 | (code_point & 0x3F))};
      alphabet.length[byte] = 2;
    }
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::string_view spell_byte(uint8_t byte) {
  return {kAlphabet.spelling[byte].data(), kAlphabet.length[byte]};
}

std::optional<std::string> unspell(std::string_view piece) {
  std::string bytes;
  for (size_t at = 0; at < piece.size();) {
    const Character character = read_character(piece, at);
    if (character.code_point >= kAlphabet.known.size() || !kAlphabet.known[character.code_point]) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(kAlphabet.byte_of[character.code_point]));
    at += character.bytes;
  }
  return bytes;
}

}  // namespace thinkd::engine
