#include "verifiers/math/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "verifiers/math/names.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers::math {
namespace {

constexpr int kTextDepth = 4;  // \text in \text

bool is_digit_at(std::string_view text, size_t at) {
  return at < text.size() && is_digit(text[at]);
}

class Lexer {
 public:
  Lexer(std::string_view text, Reading reading, int depth)
      : text_(text),
        reading_(reading),
        depth_(depth),
        matrix_(text.find("\\begin") != std::string_view::npos) {}

  bool run() {
    while (at_ < text_.size() && ok_ && tokens_.size() <= kTokens) {
      step();
    }
    return ok_ && tokens_.size() <= kTokens;
  }

  std::vector<Token> take() { return std::move(tokens_); }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  void push(Kind kind, std::string_view text) {
    tokens_.push_back({kind, std::string(text), gap_});
    gap_ = false;
  }

  void symbol(std::string_view text) {
    if (text == "(" || text == "[" || text == "set{") {
      ++brackets_;
    } else if (text == ")" || text == "]" || text == "set}") {
      brackets_ -= brackets_ > 0 ? 1 : 0;
    }
    push(Kind::symbol, text);
  }

  void step() {
    const char c = text_[at_];
    if (is_space(c) || c == '~') {
      gap_ = true;
      ++at_;
    } else if (c == '$' || c == '`') {
      ++at_;
    } else if (is_digit(c) || (c == '.' && is_digit_at(text_, at_ + 1))) {
      number();
    } else if (c == '.') {
      // A full stop at the end, or part of an abbreviation; elsewhere no mathematics.
      ++at_;
      if (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '$' && text_[at_] != '}') {
        push(Kind::text, ".");
      }
    } else if (is_letter(c)) {
      word();
    } else if (c == '\\') {
      command();
    } else {
      sign();
    }
  }

  // The length of a mark between groups of three digits here, 0 where there is none.
  size_t group_mark() const {
    for (const std::string_view mark : {"{,}", ",\\!", "\\,", "\\;", "\\ ", ",", " "}) {
      if (!rest().starts_with(mark)) {
        continue;
      }
      const bool explicit_mark = mark == "{,}" || mark == ",\\!";
      if (!explicit_mark && (!reading_.thousands || brackets_ > 0)) {
        continue;
      }
      size_t digits = at_ + mark.size();
      digits += explicit_mark && digits < text_.size() && text_[digits] == ' ' ? 1 : 0;
      size_t end = digits;
      while (is_digit_at(text_, end)) {
        ++end;
      }
      if (end - digits == 3) {
        return digits - at_;
      }
    }
    return 0;
  }

  void number() {
    std::string digits;
    while (is_digit_at(text_, at_)) {
      digits += text_[at_++];
    }
    if (!digits.empty() && digits.size() <= 3 && digits[0] != '0') {
      for (size_t mark = group_mark(); mark != 0; mark = group_mark()) {
        digits += text_.substr(at_ + mark, 3);
        at_ += mark + 3;
      }
    }
    const bool comma = reading_.decimal_comma && brackets_ == 0 && at_ < text_.size() &&
                       text_[at_] == ',' && is_digit_at(text_, at_ + 1);
    if (comma || (at_ < text_.size() && text_[at_] == '.' && is_digit_at(text_, at_ + 1))) {
      digits += digits.empty() ? "0." : ".";
      for (++at_; is_digit_at(text_, at_); ++at_) {
        digits += text_[at_];
      }
    }
    exponent(digits);
    ok_ = digits.size() <= kDigits;
    push(Kind::number, digits);
  }

  // "e23" behind a number, where no letter follows.
  void exponent(std::string& digits) {
    if (at_ >= text_.size() || lower(text_[at_]) != 'e') {
      return;
    }
    size_t end = at_ + 1;
    end += end < text_.size() && (text_[end] == '-' || text_[end] == '+') ? 1 : 0;
    const size_t first = end;
    while (is_digit_at(text_, end)) {
      ++end;
    }
    if (end == first || end - first > 6 || (end < text_.size() && is_letter(text_[end]))) {
      return;
    }
    digits += "e" + std::string(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end;
  }

  void word() {
    const size_t start = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) {
      ++at_;
    }
    plain(text_.substr(start, at_ - start));
  }

  void plain(std::string_view word) {
    const std::string low = folded(word);
    if (word.size() == 1) {
      push(Kind::letter, word);
    } else if (low == "and" || low == "or") {
      symbol(",");
    } else if (is_function(word)) {
      push(Kind::function, word);
    } else if (const std::string_view named = named_word(low); !named.empty()) {
      symbol(named);
    } else if (is_product_of_letters(word)) {
      for (const char c : word) {
        push(Kind::letter, std::string_view(&c, 1));
      }
    } else {
      push(Kind::text, word);
    }
  }

  void command() {
    if (at_ + 1 >= text_.size()) {
      ++at_;
      return;
    }
    const char next = text_[at_ + 1];
    if (next == '\\') {
      // A row's end in a matrix; elsewhere a command escaped twice.
      const bool row = matrix_;
      at_ += row ? 2 : 1;
      if (row) {
        symbol("row");
      }
      return;
    }
    if (!is_letter(next)) {
      at_ += 2;
      punctuation(next);
      return;
    }
    size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) {
      ++end;
    }
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end;
    if (is_text_command(name)) {
      set_text(name);
    } else if (name == "begin" || name == "end") {
      environment(name);
    } else if (const auto meaning = command_meaning(name)) {
      if (meaning->empty()) {
        gap_ = true;
      } else {
        symbol(*meaning);
      }
    } else if (is_function(name)) {
      push(Kind::function, name);
    } else if (is_greek(name)) {
      push(Kind::letter, name);
    } else {
      push(Kind::text, "\\" + std::string(name));
    }
  }

  void punctuation(char c) {
    switch (c) {
      case '{':
        symbol("set{");
        break;
      case '}':
        symbol("set}");
        break;
      case '%':
        symbol("%");
        break;
      case '|':
        symbol("|");
        break;
      case '!':
      case '$':
        break;
      default:
        gap_ = true;
    }
  }

  // The content of the braces that begin here, which are taken; nullopt where there are none.
  std::optional<std::string_view> group() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
    }
    if (at_ >= text_.size() || text_[at_] != '{') {
      return std::nullopt;
    }
    size_t depth = 1;
    size_t end = at_ + 1;
    while (end < text_.size() && depth > 0) {
      depth += text_[end] == '{' ? 1 : 0;
      depth -= text_[end] == '}' ? 1 : 0;
      ++end;
    }
    if (depth > 0) {
      ok_ = false;
      return std::nullopt;
    }
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 2);
    at_ = end;
    return inside;
  }

  void set_text(std::string_view name) {
    const std::optional<std::string_view> inside = group();
    if (!inside) {
      return;
    }
    const std::string_view words = trim(*inside);
    const std::string low = folded(words);
    const bool mathematical =
        std::any_of(words.begin(), words.end(), [](char c) { return is_digit(c) || c == '\\'; });
    if (words.empty()) {
      gap_ = true;
    } else if (low == "and" || low == "or") {
      symbol(",");
    } else if (mathematical) {
      Lexer inner(words, reading_, depth_ + 1);
      ok_ = ok_ && depth_ < kTextDepth && inner.run();
      for (Token& token : inner.tokens_) {
        tokens_.push_back(std::move(token));
      }
    } else if (is_function(words)) {
      push(Kind::function, words);
    } else if (const std::string_view named = named_word(low); !named.empty()) {
      symbol(named);
    } else if (name == "mathrm" && (words == "e" || words == "i")) {
      push(Kind::letter, words);
    } else {
      push(Kind::text, words);
    }
  }

  void environment(std::string_view name) {
    const std::optional<std::string_view> inside = group();
    if (!inside || (!inside->ends_with("matrix") && *inside != "array")) {
      ok_ = false;
      return;
    }
    symbol(name);
    if (name == "begin" && *inside == "array") {
      static_cast<void>(group());  // the column layout
    }
  }

  void sign() {
    for (const auto& [written, meaning] : signs()) {
      if (!rest().starts_with(written)) {
        continue;
      }
      at_ += written.size();
      if (meaning.empty()) {
        gap_ = true;
      } else if (meaning.size() == 2 && meaning[0] == '^') {
        symbol("^");
        push(Kind::number, meaning.substr(1));
      } else if (meaning.starts_with("letter ")) {
        push(Kind::letter, meaning.substr(7));
      } else {
        symbol(meaning);
      }
      return;
    }
    // Anything else is no mathematics: one token of one code point.
    size_t end = at_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0U) == 0x80U) {
      ++end;
    }
    push(Kind::text, text_.substr(at_, end - at_));
    at_ = end;
  }

  std::string_view text_;
  Reading reading_;
  int depth_;
  bool matrix_;
  size_t at_ = 0;
  int brackets_ = 0;
  bool gap_ = false;
  bool ok_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::optional<std::vector<Token>> tokenize(std::string_view text, Reading reading) {
  Lexer lexer(text, reading, 0);
  if (!lexer.run()) {
    return std::nullopt;
  }
  return lexer.take();
}

}  // namespace thinkd::verifiers::math
