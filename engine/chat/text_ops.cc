// Work on texts that keeps provenance: search, replace, strip, case.

#include <algorithm>

#include "base/limits.h"
#include "engine/chat/builtins.h"
#include "engine/chat/spaces.h"

namespace thinkd::engine::chat {

uint64_t count_characters(std::string_view text) {
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

void check_size(uint64_t bytes, Meter& meter) {
  if (bytes > limits::kTemplateOutputBytes) {
    fail_limit(meter.line, "a text of " + std::to_string(bytes) + " bytes, limit " +
                               std::to_string(limits::kTemplateOutputBytes));
  }
}

TextRef finish(TextBuilder& builder, Meter& meter) {
  check_size(builder.size(), meter);
  meter.bytes(builder.size() + 16 * builder.text().user.size());
  return builder.finish();
}

size_t find_text(std::string_view text, std::string_view needle, size_t from, Meter& meter) {
  if (from > text.size() || needle.size() > text.size() - from) {
    return std::string_view::npos;
  }
  if (needle.size() <= 16) {
    const size_t found = text.find(needle, from);
    meter.bytes((found == std::string_view::npos ? text.size() : found) - from);
    return found;
  }
  // Knuth, Morris and Pratt.
  meter.bytes(8 * needle.size());
  std::vector<size_t> border(needle.size(), 0);
  for (size_t i = 1, k = 0; i < needle.size(); ++i) {
    while (k > 0 && needle[i] != needle[k]) {
      k = border[k - 1];
    }
    k += needle[i] == needle[k] ? 1 : 0;
    border[i] = k;
  }
  size_t k = 0;
  for (size_t i = from; i < text.size(); ++i) {
    while (k > 0 && text[i] != needle[k]) {
      k = border[k - 1];
    }
    k += text[i] == needle[k] ? 1 : 0;
    if (k == needle.size()) {
      meter.bytes(i - from);
      return i + 1 - k;
    }
  }
  meter.bytes(text.size() - from);
  return std::string_view::npos;
}

TextRef replace_text(const Text& text, const Text& from, const Text& to, int64_t count,
                     Meter& meter) {
  if (from.bytes.empty()) {
    unsupported(meter.line, "replacing the empty text");
  }
  TextBuilder out;
  size_t at = 0;
  while (count != 0) {
    const size_t found = find_text(text.bytes, from.bytes, at, meter);
    if (found == std::string_view::npos) {
      break;
    }
    out.append(text, at, found);
    check_size(out.size() + to.bytes.size(), meter);
    out.append(to);
    at = found + from.bytes.size();
    --count;
  }
  out.append(text, at, text.bytes.size());
  return finish(out, meter);
}

namespace {

size_t character_length(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
    ++end;
  }
  return end - at;
}

// Length of the character at `at` if it is to be stripped, or 0.
size_t strippable(std::string_view text, size_t at, const Text* set, Meter& meter) {
  if (set == nullptr) {
    return space_length(text, at);
  }
  const size_t length = character_length(text, at);
  meter.bytes(set->bytes.size());
  return set->bytes.find(text.substr(at, length)) == std::string::npos ? 0 : length;
}

uint32_t code_point_at(std::string_view text, size_t at) {
  const size_t length = character_length(text, at);
  uint32_t code = static_cast<unsigned char>(text[at]);
  if (length > 1) {
    code &= 0xffu >> (length + 1);
  }
  for (size_t i = 1; i < length; ++i) {
    code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
  }
  return code;
}

// Characters outside ASCII that surely have no case: punctuation, arrows, CJK, Hangul, emoji.
bool surely_caseless(uint32_t code) {
  return (code >= 0x80 && code <= 0xbf && code != 0xaa && code != 0xb5 && code != 0xba) ||
         (code >= 0x2000 && code <= 0x206f) || (code >= 0x2190 && code <= 0x24b5) ||
         (code >= 0x2500 && code <= 0x2bff) || (code >= 0x2e80 && code <= 0xa63f) ||
         (code >= 0xac00 && code <= 0xd7a3) || (code >= 0x1f300 && code <= 0x1faff);
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
char raised(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
char lowered(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }

}  // namespace

TextRef strip_text(const Text& text, const Value* characters, Side side, Meter& meter) {
  const Text* set = nullptr;
  if (characters != nullptr && !characters->is<None>()) {
    set = &need_text(*characters, "the characters to strip", meter);
  }
  const std::string_view bytes = text.bytes;
  meter.bytes(bytes.size());
  size_t begin = 0;
  size_t end = bytes.size();
  while (side != Side::right && begin < end) {
    const size_t length = strippable(bytes, begin, set, meter);
    if (length == 0) {
      break;
    }
    begin += length;
  }
  while (side != Side::left && end > begin) {
    size_t start = end - 1;
    while (start > begin && (static_cast<unsigned char>(bytes[start]) & 0xc0) == 0x80) {
      --start;
    }
    if (strippable(bytes.substr(0, end), start, set, meter) == 0) {
      break;
    }
    end = start;
  }
  TextBuilder out;
  out.append(text, begin, end);
  return finish(out, meter);
}

TextRef change_case(const Text& text, Case how, Meter& meter) {
  TextBuilder out;
  out.append(text);
  std::string& bytes = out.text().bytes;
  bool word_starts = true;
  for (size_t i = 0; i < bytes.size(); i += character_length(bytes, i)) {
    char& c = bytes[i];
    if (static_cast<unsigned char>(c) >= 0x80) {
      if (!surely_caseless(code_point_at(bytes, i)) && space_length(bytes, i) == 0) {
        unsupported(meter.line, "changing the case of letters outside ASCII");
      }
      word_starts = how == Case::title || (how == Case::title_filter && space_length(bytes, i) > 0);
      continue;
    }
    switch (how) {
      case Case::upper:
        c = raised(c);
        break;
      case Case::lower:
        c = lowered(c);
        break;
      case Case::capitalize:
        c = word_starts ? raised(c) : lowered(c);
        word_starts = false;
        break;
      case Case::title:
        c = word_starts ? raised(c) : lowered(c);
        word_starts = !is_lower(c) && !is_upper(c);
        break;
      case Case::title_filter: {
        // Jinja's filter sees a new word after these only.
        const bool gap = space_length(bytes, i) > 0 ||
                         std::string_view("-({[<").find(c) != std::string_view::npos;
        c = word_starts ? raised(c) : lowered(c);
        word_starts = gap;
        break;
      }
    }
  }
  return finish(out, meter);
}

}  // namespace thinkd::engine::chat
