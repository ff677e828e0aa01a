#include "engine/chat/spaces.h"

namespace thinkd::engine::chat {

size_t space_length(std::string_view text, size_t at) {
  if (at >= text.size()) {
    return 0;
  }
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned b = byte(0);
  if (b < 0x80) {
    return b == ' ' || (b >= 9 && b <= 13) || (b >= 0x1c && b <= 0x1f) ? 1 : 0;
  }
  if (b == 0xc2) {
    return byte(1) == 0x85 || byte(1) == 0xa0 ? 2 : 0;
  }
  const unsigned rest = (b << 16) | (byte(1) << 8) | byte(2);
  const bool space = rest == 0xe19a80 || (rest >= 0xe28080 && rest <= 0xe2808a) ||
                     rest == 0xe280a8 || rest == 0xe280a9 || rest == 0xe280af || rest == 0xe2819f ||
                     rest == 0xe38080;
  return space ? 3 : 0;
}

size_t skip_spaces(std::string_view text, size_t at) {
  while (size_t length = space_length(text, at)) {
    at += length;
  }
  return at;
}

size_t end_without_spaces(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    size_t start = end - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xc0) == 0x80) {
      --start;
    }
    if (space_length(text, start) != end - start) {
      break;
    }
    end = start;
  }
  return end;
}

}  // namespace thinkd::engine::chat
