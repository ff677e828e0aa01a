#include "verifiers/equivalence.h"

#include <algorithm>

#include "base/limits.h"
#include "verifiers/answer.h"
#include "verifiers/calendar.h"
#include "verifiers/math/compare.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

std::string without_spaces(std::string_view text) {
  std::string result(text);
  std::erase_if(result, [](char c) { return is_space(c) || c == '$'; });
  return result;
}

// A comma between digits, so that there are two readings.
bool has_group(std::string_view text) {
  for (size_t i = 1; i + 1 < text.size(); ++i) {
    if ((text[i] == ',' || text[i] == ' ') && is_digit(text[i - 1]) && is_digit(text[i + 1])) {
      return true;
    }
  }
  return false;
}

// "3,75": one comma, not before three digits.
bool has_decimal_comma(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma == 0 || text.find(',', comma + 1) != text.npos ||
      !is_digit(text[comma - 1]) || text.find('.') != text.npos) {
    return false;
  }
  size_t end = comma + 1;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  return end > comma + 1 && end - comma - 1 != 3;
}

bool same_under(std::string_view a, math::Reading read_a, std::string_view b,
                math::Reading read_b) {
  return math::same_value(math::parse_value(a, read_a), math::parse_value(b, read_b));
}

}  // namespace

bool equivalent(std::string_view answer, std::string_view gold) {
  answer = trim(answer);
  gold = trim(gold);
  if (answer.size() > limits::kAnswerBytes || gold.size() > limits::kAnswerBytes) {
    return false;
  }
  const std::string left = without_spaces(answer);
  if (left.empty()) {
    return false;
  }
  if (left == without_spaces(gold)) {
    return true;
  }
  const std::string moment = calendar_text(answer);
  if (const std::string other = calendar_text(gold); !moment.empty() || !other.empty()) {
    if (moment == other) {
      return true;
    }
  }
  const math::Value given = math::parse_value(answer, {});
  const math::Value wanted = math::parse_value(gold, {});
  if (math::same_value(given, wanted)) {
    return true;
  }
  // Where one side is a single number such as 1,200, its comma does not also part a list.
  const math::Reading apart{.thousands = false};
  if ((has_group(answer) || has_group(gold)) && given.shape != math::Shape::expression &&
      wanted.shape != math::Shape::expression && same_under(answer, apart, gold, apart)) {
    return true;
  }
  return has_decimal_comma(answer) && gold.find(',') == std::string_view::npos &&
         same_under(answer, {.thousands = false, .decimal_comma = true}, gold, {});
}

bool answers_match(std::string_view text, std::string_view gold) {
  const AnswerKind kind = kind_of_reference(gold);
  const Extraction wanted = extract_answer(gold, kind);
  const Extraction given = extract_answer(text, kind);
  return wanted.found && given.found && equivalent(given.answer, wanted.answer);
}

bool readable(std::string_view gold) {
  if (gold.size() > limits::kAnswerBytes) {
    return false;
  }
  if (!calendar_text(gold).empty()) {
    return true;
  }
  const math::Value value = math::parse_value(trim(gold), {});
  return value.shape != math::Shape::invalid && math::same_value(value, value);
}

}  // namespace thinkd::verifiers
