#include <algorithm>
#include <vector>

#include "base/limits.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

struct Box {
  size_t begin;  // of the command
  size_t end;    // after the closing brace
  std::string_view content;
};

// Only joining words, commas and marks stand in the gap.
bool joins(std::string_view gap) {
  if (gap.size() > 32) {
    return false;
  }
  bool joined = false;
  size_t at = 0;
  while (at < gap.size()) {
    const std::string_view rest = gap.substr(at);
    if (is_space(rest[0]) || rest[0] == '$' || rest[0] == '\\' || rest[0] == '*') {
      ++at;
    } else if (rest[0] == ',') {
      joined = true;
      ++at;
    } else if (rest.starts_with("and")) {
      joined = true;
      at += 3;
    } else if (rest.starts_with("or")) {
      joined = true;
      at += 2;
    } else if (rest.starts_with("text{and}") || rest.starts_with("text{ and }")) {
      joined = true;
      at += rest.find('}') + 1;
    } else {
      return false;
    }
  }
  return joined;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

std::string folded(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

size_t rfind_folded(std::string_view text, std::string_view word) {
  for (size_t at = text.size() + 1; at-- > 0;) {
    if (text.size() - at < word.size()) {
      continue;
    }
    if (std::equal(word.begin(), word.end(), text.begin() + static_cast<ptrdiff_t>(at),
                   [](char a, char b) { return a == lower(b); })) {
      return at;
    }
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text, size_t bytes) {
  size_t end = std::min(text.size(), bytes);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  std::string result(text.substr(0, end));
  for (char& c : result) {
    c = static_cast<unsigned char>(c) < 0x20U || c == 0x7F ? ' ' : c;
  }
  return end < text.size() ? result + "..." : result;
}

Boxed last_boxes(std::string_view text) {
  Boxed result;
  std::vector<Box> boxes;  // the run of joined boxes that ends at the last one
  size_t at = 0;
  while (at < text.size()) {
    const size_t slash = text.find('\\', at);
    if (slash == std::string_view::npos) {
      break;
    }
    size_t open = slash + 1;
    const std::string_view rest = text.substr(open);
    if (rest.starts_with("boxed")) {
      open += 5;
    } else if (rest.starts_with("fbox")) {
      open += 4;
    } else {
      at = open;
      continue;
    }
    while (open < text.size() && text[open] == ' ') {
      ++open;
    }
    if (open >= text.size() || text[open] != '{') {
      at = open;
      continue;
    }
    result.present = true;
    size_t depth = 1;
    size_t close = open + 1;
    for (; close < text.size(); ++close) {
      if (text[close] == '\\') {
        ++close;  // an escaped brace does not count
      } else if (text[close] == '{') {
        ++depth;
      } else if (text[close] == '}' && --depth == 0) {
        break;
      }
    }
    if (close >= text.size()) {
      // Never closed: everything after it belongs to it, so it is the last box, and no answer.
      return {.present = true, .found = false, .answer = {}};
    }
    const Box box{slash, close + 1, trim(text.substr(open + 1, close - open - 1))};
    if (!boxes.empty() && !joins(text.substr(boxes.back().end, slash - boxes.back().end))) {
      boxes.clear();
    }
    boxes.push_back(box);
    at = close + 1;
  }
  if (boxes.empty() || boxes.back().content.empty()) {
    return result;
  }
  for (const Box& box : boxes) {
    if (!box.content.empty()) {
      result.answer += (result.answer.empty() ? "" : ", ") + std::string(box.content);
    }
  }
  // A box around a box: the inner one is the answer.
  if (boxes.size() == 1 &&
      (result.answer.starts_with("\\boxed{") || result.answer.starts_with("\\fbox{")) &&
      result.answer.ends_with("}")) {
    const size_t brace = result.answer.find('{');
    result.answer = result.answer.substr(brace + 1, result.answer.size() - brace - 2);
  }
  result.found = result.answer.size() <= limits::kAnswerBytes && !trim(result.answer).empty();
  return result;
}

}  // namespace thinkd::verifiers
