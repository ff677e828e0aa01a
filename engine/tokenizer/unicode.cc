#include "engine/tokenizer/unicode.h"

#include <algorithm>

namespace thinkd::engine {

namespace {

constexpr uint32_t kReplacement = 0xFFFD;
constexpr uint32_t kMaxCodePoint = 0x10FFFF;

bool is_surrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

}  // namespace

CharClass char_class(uint32_t code_point) {
  const std::span<const ClassRange> ranges = class_ranges();
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](uint32_t value, const ClassRange& range) { return value < range.first; });
  if (after == ranges.begin()) {
    return CharClass::other;
  }
  const ClassRange& range = *std::prev(after);
  return code_point <= range.last ? range.kind : CharClass::other;
}

Character read_character(std::string_view text, size_t at) {
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(text[index]); };
  const uint8_t lead = byte(at);
  if (lead < 0x80) {
    return {lead, 1};
  }
  const uint32_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size() - at) {
    return {kReplacement, 1};
  }
  uint32_t code_point = lead & (0x7Fu >> length);
  for (uint32_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) {
      return {kReplacement, 1};
    }
    code_point = code_point << 6 | (byte(at + i) & 0x3Fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kLeast[length] || code_point > kMaxCodePoint || is_surrogate(code_point)) {
    return {kReplacement, 1};
  }
  return {code_point, length};
}

}  // namespace thinkd::engine
