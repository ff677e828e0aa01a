#include "verifiers/calendar.h"

#include <array>
#include <vector>

#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

constexpr size_t kLongest = 64;
constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

// Words and numbers of the text, folded; LaTeX marks and dots fall away.
std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  char last = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {  // a command is dropped, its argument stays
      while (i + 1 < text.size() && is_letter(text[i + 1])) {
        ++i;
      }
      i += i + 1 < text.size() &&
           std::string_view("!,;: ").find(text[i + 1]) != std::string_view::npos;
      last = 0;
      continue;
    }
    const char kind = is_digit(text[i]) ? 'd' : is_letter(text[i]) ? 'w' : text[i] == ':' ? ':' : 0;
    const bool abbreviation = text[i] == '.' && last == 'w';
    if (abbreviation || (kind == 0 && text[i] != ' ')) {
      last = abbreviation ? 'w' : 0;
      continue;
    }
    if (kind == 0) {
      last = 0;
    } else if (kind == last && kind != ':') {
      result.back() += lower(text[i]);
    } else {
      result.emplace_back(1, lower(text[i]));
      last = kind;
    }
  }
  return result;
}

int small(const std::string& digits) {
  int value = 0;
  for (const char c : digits) {
    if (!is_digit(c) || value > 99'999) {
      return -1;
    }
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string time_of_day(std::vector<std::string> parts) {
  if (parts.size() == 5 && parts[3].size() == 1 && parts[4] == "m") {
    parts[3] += parts[4];
    parts.pop_back();
  }
  if (parts.size() != 4 || parts[1] != ":" || (parts[3] != "am" && parts[3] != "pm")) {
    return {};
  }
  const int hour = small(parts[0]);
  const int minute = small(parts[2]);
  if (hour < 1 || hour > 12 || minute < 0 || minute > 59 || parts[2].size() != 2) {
    return {};
  }
  const int shift = parts[3] == "pm" ? 12 : 0;
  return std::to_string(hour % 12 + shift) + ":" + parts[2];
}

std::string date(const std::vector<std::string>& parts) {
  if (parts.size() != 3 && parts.size() != 2) {
    return {};
  }
  const size_t word = is_letter(parts[0][0]) ? 0 : 1;
  std::string day = parts[1 - word];
  for (size_t i = 0; i < kMonths.size(); ++i) {
    const bool named = parts[word] == kMonths[i] ||
                       (parts[word].size() == 3 && kMonths[i].starts_with(parts[word]));
    if (!named) {
      continue;
    }
    const int number = small(day);
    const int year = parts.size() == 3 ? small(parts[2]) : 0;
    if (number < 1 || number > 31 || year < 0) {
      return {};
    }
    return std::to_string(year) + "-" + std::to_string(i + 1) + "-" + std::to_string(number);
  }
  return {};
}

}  // namespace

std::string calendar_text(std::string_view text) {
  if (text.size() > kLongest) {
    return {};
  }
  const std::vector<std::string> parts = pieces(text);
  if (parts.empty()) {
    return {};
  }
  const std::string time = time_of_day(parts);
  return time.empty() ? date(parts) : time;
}

}  // namespace thinkd::verifiers
