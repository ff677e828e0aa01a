#include <array>

#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

bool is_choice(char c) { return c >= 'A' && c <= 'J'; }

bool is_word_byte(char c) {
  return is_letter(c) || is_digit(c) || (static_cast<unsigned char>(c) & 0x80U) != 0 || c == '\'';
}

// Skips what may stand between "answer" and its letter.
std::string_view skip_dress(std::string_view text) {
  constexpr std::array<std::string_view, 12> kDress = {
      "\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "\\boxed{", "is ",
      "option ", "choice ",   "the ",      "answer ",   "correct ", "Option "};
  bool moved = true;
  while (moved && !text.empty()) {
    moved = false;
    while (!text.empty() &&
           std::string_view(" \t\n\r:*$({[\"").find(text[0]) != std::string_view::npos) {
      text.remove_prefix(1);
      moved = true;
    }
    for (const std::string_view dress : kDress) {
      if (text.starts_with(dress)) {
        text.remove_prefix(dress.size());
        moved = true;
      }
    }
  }
  return text;
}

// The letter at the very start, where it stands alone and no second one is offered.
char leading_letter(std::string_view text) {
  text = skip_dress(text);
  if (text.empty() || !is_choice(text[0]) || (text.size() > 1 && is_word_byte(text[1]))) {
    return 0;
  }
  std::string_view rest = trim(text.substr(1));
  for (const std::string_view joint : {"or ", "and ", "/", ", ", "&"}) {
    if (rest.starts_with(joint)) {
      const std::string_view next = skip_dress(rest.substr(joint.size()));
      if (!next.empty() && is_choice(next[0]) && (next.size() == 1 || !is_word_byte(next[1]))) {
        return 0;
      }
    }
  }
  return text[0];
}

// The one distinct letter that stands alone in the text ("(B)" only, where wanted), else 0.
char only_letter(std::string_view text, bool bracketed) {
  char found = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool alone = is_choice(text[i]) && (i == 0 || !is_word_byte(text[i - 1])) &&
                       (i + 1 == text.size() || !is_word_byte(text[i + 1]));
    const bool inside = i > 0 && i + 1 < text.size() && text[i - 1] == '(' && text[i + 1] == ')';
    if (!alone || (bracketed && !inside)) {
      continue;
    }
    // "A" before a lower-case word is an article.
    const std::string_view behind = text.substr(i + 1);
    if (text[i] == 'A' && behind.size() > 1 && behind[0] == ' ' && is_letter(behind[1]) &&
        !is_upper(behind[1]) && !behind.starts_with(" or ") && !behind.starts_with(" and ")) {
      continue;
    }
    if (found != 0 && found != text[i]) {
      return 0;
    }
    found = text[i];
  }
  return found;
}

}  // namespace

char choice_letter(std::string_view text) {
  text = trim(text);
  // The last cue that names a letter decides.
  size_t best = std::string_view::npos;
  size_t length = 0;
  for (const std::string_view cue :
       {"answer is", "answer:", "option is", "choice is", "answer", "option", "choice"}) {
    const size_t at = rfind_folded(text, cue);
    if (at != std::string_view::npos &&
        (best == std::string_view::npos || at > best || (at == best && cue.size() > length))) {
      best = at;
      length = cue.size();
    }
  }
  if (best != std::string_view::npos) {
    const std::string_view rest = text.substr(best + length);
    if (const char letter = leading_letter(rest); letter != 0) {
      return letter;
    }
  }
  const std::string_view bare = skip_dress(text);
  if (!bare.empty() && is_choice(bare[0])) {
    const std::string_view rest = bare.substr(1);
    if (rest.empty() || std::string_view(").:}*],").find(rest[0]) != std::string_view::npos) {
      return leading_letter(text);
    }
  }
  if (const char letter = only_letter(text, true); letter != 0) {
    return letter;
  }
  return only_letter(text, false);
}

}  // namespace thinkd::verifiers
