#include "verifiers/answer.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "verifiers/expression.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

constexpr size_t kBareBytes = 240;  // a longer line is not taken for a bare answer

// Lower case; the last one in the text wins, the longest one where two begin at one place.
constexpr std::array<std::string_view, 12> kCues = {
    "answer is",
    "answer:",
    "answer**:",
    "\xE7\xAD\x94\xE6\xA1\x88\xE6\x98\xAF",  // da an shi
    "\xE7\xAD\x94\xE6\xA1\x88\xE4\xB8\xBA",  // da an wei
    "\xE7\xAD\x94\xE6\xA1\x88",              // da an
    "r\xC3\xA9ponse",
    "respuesta",
    "antwort",
    "risposta",
    "resposta",
    "<answer>"};

Extraction found(std::string_view answer) {
  answer = trim(answer);
  if (answer.empty()) {
    return {false, {}, "the answer is empty"};
  }
  if (answer.size() > limits::kAnswerBytes) {
    return {false,
            {},
            "an answer of " + std::to_string(answer.size()) + " bytes; the limit is " +
                std::to_string(limits::kAnswerBytes)};
  }
  return {true, std::string(answer), {}};
}

// Words of two letters and more that are no LaTeX command: three of them make prose.
bool is_prose(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMath = {
      "and", "or", "sin", "cos", "tan", "ln", "log", "sqrt", "pi", "square", "cubic", "per"};
  size_t words = 0;
  size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '\\') {
      const std::string_view rest = text.substr(i);
      if (rest.starts_with("\\text") || rest.starts_with("\\math") || rest.starts_with("\\mbox")) {
        i = std::min(text.size(), text.find('}', i));  // set text is part of the answer
        continue;
      }
      ++i;
      while (i < text.size() && is_letter(text[i])) {
        ++i;
      }
      continue;
    }
    const size_t start = i;
    while (i < text.size() && is_letter(text[i])) {
      ++i;
    }
    const std::string_view word = text.substr(start, i - start);
    if (word.size() >= 2 && std::find(kMath.begin(), kMath.end(), word) == kMath.end()) {
      ++words;
    }
    i += word.empty() ? 1 : 0;
  }
  return words >= 3;
}

// Marks around an answer, and the full stop behind it.
std::string_view strip_marks(std::string_view text) {
  bool moved = true;
  while (moved) {
    text = trim(text);
    moved = false;
    if (!text.empty() && (text.front() == '*' || text.front() == ':' || text.front() == '`')) {
      text.remove_prefix(1);
      moved = true;
    } else if (text.starts_with("\xEF\xBC\x9A")) {  // full-width colon
      text.remove_prefix(3);
      moved = true;
    }
    if (!text.empty() && std::string_view(".*`;!").find(text.back()) != std::string_view::npos &&
        !text.ends_with("p.m.") && !text.ends_with("a.m.") &&
        !(text.back() == '!' && text.size() > 1 &&
          (is_digit(text[text.size() - 2]) || is_letter(text[text.size() - 2]) ||
           text[text.size() - 2] == ')' || text[text.size() - 2] == '\\'))) {
      text.remove_suffix(1);
      moved = true;
    } else if (text.ends_with("\xE3\x80\x82")) {  // ideographic full stop
      text.remove_suffix(3);
      moved = true;
    }
  }
  return text;
}

// Up to the end of the sentence.
std::string_view first_sentence(std::string_view line) {
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    const bool stop = line[i] == '.' && is_space(line[i + 1]) && i + 2 < line.size() &&
                      !line.substr(0, i + 1).ends_with(".m.");
    if (stop || line.substr(i).starts_with("\xE3\x80\x82")) {
      return line.substr(0, i);
    }
  }
  return line;
}

// One written number that begins here, with its sign, fraction and percent; empty where none does.
size_t number_length(std::string_view text, size_t at) {
  size_t i = at;
  if (text[i] == '-' || text[i] == '+') {
    const bool binary =
        at > 0 && (is_digit(text[at - 1]) || is_letter(text[at - 1]) || text[at - 1] == ')' ||
                   (text[at - 1] == ' ' && i + 1 < text.size() && text[i + 1] == ' '));
    if (binary) {
      return 0;
    }
    ++i;
  }
  if (i < text.size() && text[i] == '$') {
    ++i;
  }
  const std::string_view rest = text.substr(i);
  if (rest.starts_with("\\frac{") || rest.starts_with("\\dfrac{") || rest.starts_with("\\tfrac{")) {
    for (int part = 0; part < 2; ++part) {
      const size_t open = part == 0 ? text.find('{', i) : i;
      if (open >= text.size() || text[open] != '{') {
        return 0;
      }
      const size_t close = text.find('}', open);
      if (close == std::string_view::npos || close - open > 64) {
        return 0;
      }
      i = close + 1;
    }
    return i - at;
  }
  const size_t digits = i;
  while (i < text.size() && (is_digit(text[i]) || ((text[i] == ',' || text[i] == '.') &&
                                                   i + 1 < text.size() && is_digit(text[i + 1])))) {
    ++i;
  }
  if (i == digits) {
    return 0;
  }
  if (i + 1 < text.size() && text[i] == '/' && is_digit(text[i + 1])) {
    ++i;
    while (i < text.size() && is_digit(text[i])) {
      ++i;
    }
  }
  if (i < text.size() && text[i] == '%') {
    ++i;
  } else if (text.substr(i).starts_with("\\%")) {
    i += 2;
  }
  return i - at;
}

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

Span first_or_last_number(std::string_view text, bool first) {
  Span span;
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = number_length(text, i);
    if (length == 0) {
      ++i;
      continue;
    }
    span = {i, i + length};
    if (first) {
      break;
    }
    i += length;
  }
  return span;
}

// The last $...$ that holds no prose.
Span last_formula(std::string_view text) {
  const size_t close = text.rfind('$');
  if (close == std::string_view::npos || close == 0 || text[close - 1] == '\\') {
    return {};
  }
  const size_t open = text.rfind('$', close - 1);
  if (open == std::string_view::npos || close - open > kBareBytes || close - open < 2 ||
      is_prose(text.substr(open + 1, close - open - 1))) {
    return {};
  }
  return {open + 1, close};
}

Extraction last_value(std::string_view text) {
  const Span number = first_or_last_number(text, false);
  const Span formula = last_formula(text);
  if (formula.end > 0 && formula.end >= number.end) {
    std::string_view inside = text.substr(formula.begin, formula.end - formula.begin);
    if (const size_t equals = inside.rfind('='); equals != std::string_view::npos) {
      inside = inside.substr(equals + 1);
    }
    return found(inside);
  }
  if (number.end == 0) {
    return {false, {}, "no answer found"};
  }
  return found(text.substr(number.begin, number.end - number.begin));
}

// What a cue announces.
Extraction announced(std::string_view rest, AnswerKind kind) {
  rest = strip_marks(rest);
  if (rest.starts_with("is ")) {
    rest = strip_marks(rest.substr(3));
  }
  rest = rest.substr(0, std::min(rest.find('\n'), rest.find("</answer>")));
  if (rest.starts_with('$')) {
    size_t close = rest.find('$', 1);
    while (close != std::string_view::npos && rest[close - 1] == '\\') {
      close = rest.find('$', close + 1);  // an escaped dollar sign is money
    }
    if (close != std::string_view::npos && close > 1 && !is_prose(rest.substr(1, close - 1))) {
      return found(rest.substr(1, close - 1));
    }
  }
  const std::string_view answer = strip_marks(first_sentence(rest));
  const bool mathematical = kind == AnswerKind::math || kind == AnswerKind::number;
  if (mathematical && is_prose(answer)) {
    if (const Span number = first_or_last_number(answer, true); number.end > 0) {
      return found(answer.substr(number.begin, number.end - number.begin));
    }
  }
  return found(answer);
}

}  // namespace

std::string_view kind_name(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::math:
      return "math";
    case AnswerKind::number:
      return "number";
    case AnswerKind::choice:
      return "choice";
    case AnswerKind::countdown:
      return "countdown";
    case AnswerKind::text:
      return "text";
  }
  return "?";
}

Extraction extract_answer(std::string_view text, AnswerKind kind) {
  if (kind == AnswerKind::countdown) {
    return found(find_expression(text));
  }
  const Boxed boxed = last_boxes(text);
  if (boxed.present && !boxed.found) {
    return {false, {}, "the last box is empty or not closed"};
  }
  if (kind == AnswerKind::choice) {
    const char letter = choice_letter(boxed.found ? std::string_view(boxed.answer) : text);
    return letter == 0 ? Extraction{false, {}, "no single choice letter found"}
                       : found(std::string_view(&letter, 1));
  }
  if (boxed.found) {
    return found(boxed.answer);
  }
  if (const size_t marker = text.rfind("####"); marker != std::string_view::npos) {
    const std::string_view rest = trim(text.substr(marker + 4));
    return found(rest.substr(0, rest.find('\n')));
  }
  size_t best = std::string_view::npos;
  size_t length = 0;
  for (const std::string_view cue : kCues) {
    const size_t at = rfind_folded(text, cue);
    if (at != std::string_view::npos &&
        (best == std::string_view::npos || at > best || (at == best && cue.size() > length))) {
      best = at;
      length = cue.size();
    }
  }
  if (best != std::string_view::npos) {
    return announced(text.substr(best + length), kind);
  }
  const std::string_view bare = trim(text);
  if (bare.empty()) {
    return {false, {}, "the text is empty"};
  }
  const bool one_line = bare.size() <= kBareBytes &&
                        (bare.find('\n') == std::string_view::npos || bare.starts_with("\\begin"));
  if (one_line && (kind == AnswerKind::text || !is_prose(bare))) {
    return found(bare);
  }
  if (kind == AnswerKind::text) {
    const size_t line = bare.rfind('\n');
    return found(strip_marks(line == std::string_view::npos ? bare : bare.substr(line + 1)));
  }
  return last_value(bare);
}

AnswerKind kind_of_reference(std::string_view reference) {
  std::string_view core = trim(reference);
  for (const std::string_view dress : {"\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{"}) {
    if (core.starts_with(dress) && core.ends_with("}")) {
      core = core.substr(dress.size(), core.size() - dress.size() - 1);
    }
  }
  core = trim(core);
  if (core.size() == 3 && core[0] == '(' && core[2] == ')') {
    core = core.substr(1, 1);
  }
  return core.size() == 1 && core[0] >= 'A' && core[0] <= 'J' ? AnswerKind::choice
                                                              : AnswerKind::math;
}

}  // namespace thinkd::verifiers
