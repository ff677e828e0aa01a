#include "engine/chat/lexer.h"

#include <algorithm>
#include <optional>

#include "engine/chat/spaces.h"
#include "engine/chat/value.h"

namespace thinkd::engine::chat {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

// Jinja reads every line end as one newline and drops a single one at the very end.
std::string normalise_newlines(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text += '\n';
      i += i + 1 < source.size() && source[i + 1] == '\n' ? 1 : 0;
    } else {
      text += source[i];
    }
  }
  if (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : text_(normalise_newlines(source)) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) {
      root();
    }
    emit(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(text_).substr(at_); }
  bool starts(std::string_view what) const { return rest().substr(0, what.size()) == what; }

  void advance(size_t count) {
    line_ += static_cast<uint32_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(at_),
                                              text_.begin() + static_cast<ptrdiff_t>(at_ + count),
                                              '\n'));
    at_ += count;
    line_starting_ = at_ > 0 && text_[at_ - 1] == '\n';
  }

  void emit(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }

  void emit_data(std::string_view text) {
    if (!text.empty()) {
      emit(TokenKind::data, std::string(text));
    }
  }

  // The data before a tag that opens with `sign` after its two characters.
  std::string_view strip_left(std::string_view data, char sign, bool is_variable) const {
    if (sign == '-') {
      return data.substr(0, end_without_spaces(data));
    }
    if (sign == '+' || is_variable) {
      return data;
    }
    const size_t newline = data.rfind('\n');
    const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
    if (start == 0 && !line_starting_) {
      return data;
    }
    return skip_spaces(data, start) == data.size() ? data.substr(0, start) : data;
  }

  // The length of a closing `{mark}}` with its sign and the white space it eats, or 0.
  size_t close_length(std::string_view text, std::string_view mark, bool trims) const {
    if (text.substr(0, 1) == "-" && text.substr(1, 2) == mark) {
      return skip_spaces(text, 3);
    }
    if (trims && text.substr(0, 1) == "+" && text.substr(1, 2) == mark) {
      return 3;
    }
    if (text.substr(0, 2) != mark) {
      return 0;
    }
    return trims && text.substr(2, 1) == "\n" ? 3 : 2;
  }

  // The length of `{%- raw -%}` and its like at `text`, or 0.
  size_t word_tag_length(std::string_view text, std::string_view word, bool trims) const {
    size_t at = 2;
    at += text.substr(at, 1) == "-" || text.substr(at, 1) == "+" ? 1 : 0;
    at = skip_spaces(text, at);
    if (text.substr(at, word.size()) != word) {
      return 0;
    }
    at = skip_spaces(text, at + word.size());
    const std::string_view tail = text.substr(at);
    if (!trims && tail.substr(0, 2) == "%}") {
      return at + 2;
    }
    const size_t close = close_length(tail, "%}", true);
    return close == 0 ? 0 : at + close;
  }

  void root() {
    size_t tag = at_;
    for (; tag + 1 < text_.size(); ++tag) {
      if (text_[tag] == '{' &&
          (text_[tag + 1] == '{' || text_[tag + 1] == '%' || text_[tag + 1] == '#')) {
        break;
      }
    }
    if (tag + 1 >= text_.size()) {
      emit_data(rest());
      advance(text_.size() - at_);
      return;
    }
    const char mark = text_[tag + 1];
    const char sign = tag + 2 < text_.size() ? text_[tag + 2] : ' ';
    const std::string_view data = rest().substr(0, tag - at_);
    emit_data(strip_left(data, sign, mark == '{'));
    advance(tag - at_);
    if (mark == '%') {
      if (const size_t length = word_tag_length(rest(), "raw", false)) {
        advance(length);
        raw();
        return;
      }
    }
    const uint32_t opened = line_;
    advance(sign == '-' || sign == '+' ? 3 : 2);
    if (mark == '#') {
      comment(opened);
    } else {
      inside(mark == '%');
    }
  }

  void comment(uint32_t opened) {
    for (size_t i = 0; i < rest().size(); ++i) {
      if (const size_t length = close_length(rest().substr(i), "#}", true)) {
        advance(i + length);
        return;
      }
    }
    fail(opened, "a comment that never ends");
  }

  void raw() {
    const uint32_t opened = line_;
    for (size_t i = 0; i < rest().size(); ++i) {
      if (rest().substr(i, 2) != "{%") {
        continue;
      }
      const size_t length = word_tag_length(rest().substr(i), "endraw", true);
      if (length != 0) {
        const char sign = rest()[i + 2];
        emit_data(strip_left(rest().substr(0, i), sign, false));
        advance(i + length);
        return;
      }
    }
    fail(opened, "a raw block that never ends");
  }

  void inside(bool is_block) {
    const std::string_view mark = is_block ? "%}" : "}}";
    const uint32_t opened = line_;
    emit(is_block ? TokenKind::block_begin : TokenKind::variable_begin, "");
    std::string open;  // brackets that wait for their partner
    while (at_ < text_.size()) {
      if (open.empty()) {
        if (const size_t length = close_length(rest(), mark, is_block)) {
          emit(is_block ? TokenKind::block_end : TokenKind::variable_end, "");
          advance(length);
          return;
        }
      }
      if (const size_t space = space_length(text_, at_)) {
        advance(space);
      } else if (is_name_start(text_[at_])) {
        size_t length = 1;
        while (length < rest().size() && is_name_part(rest()[length])) {
          ++length;
        }
        emit(TokenKind::name, std::string(rest().substr(0, length)));
        advance(length);
      } else if (is_digit(text_[at_])) {
        number();
      } else if (text_[at_] == '\'' || text_[at_] == '"') {
        string();
      } else {
        operation(open);
      }
    }
    fail(opened, is_block ? "a {% tag that never ends" : "a {{ tag that never ends");
  }

  size_t digits(size_t at) const {
    while (at < text_.size() &&
           (is_digit(text_[at]) ||
            (text_[at] == '_' && at + 1 < text_.size() && is_digit(text_[at + 1])))) {
      ++at;
    }
    return at;
  }

  void number() {
    size_t end = digits(at_);
    bool whole = true;
    const bool after_dot = at_ > 0 && text_[at_ - 1] == '.';
    if (!after_dot && end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      whole = false;
      end = digits(end + 1);
    }
    if (!after_dot && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      const size_t sign =
          end + 1 < text_.size() && (text_[end + 1] == '+' || text_[end + 1] == '-') ? 1 : 0;
      if (end + 1 + sign < text_.size() && is_digit(text_[end + 1 + sign])) {
        whole = false;
        end = digits(end + 1 + sign);
      }
    }
    std::string text(rest().substr(0, end - at_));
    std::erase(text, '_');
    if (whole && text.size() > 1 && text[0] == '0') {
      unsupported(line_, "the number " + text.substr(0, 20) + " with leading zeros");
    }
    if (end < text_.size() && is_name_start(text_[end])) {
      unsupported(line_, "a number that ends in a letter");
    }
    emit(whole ? TokenKind::integer : TokenKind::number, std::move(text));
    advance(end - at_);
  }

  void string() {
    const char quote = text_[at_];
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote) {
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size()) {
      fail(line_, "a string that never ends");
    }
    emit(TokenKind::string, unescape(rest().substr(1, end - at_ - 1)));
    advance(end - at_ + 1);
  }

  std::string unescape(std::string_view body) const {
    std::string out;
    for (size_t i = 0; i < body.size(); ++i) {
      if (body[i] != '\\') {
        out += body[i];
        continue;
      }
      const char c = body[++i];
      static constexpr std::string_view kFrom = "ntr\\'\"abfv";
      static constexpr std::string_view kTo = "\n\t\r\\'\"\a\b\f\v";
      if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
        out += kTo[at];
      } else if (c == '\n') {
        continue;
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        append_utf8(out, code_point(body.substr(i + 1, count), count, 16));
        i += count;
      } else if (c >= '0' && c <= '7') {
        size_t count = 1;
        while (count < 3 && i + count < body.size() && body[i + count] >= '0' &&
               body[i + count] <= '7') {
          ++count;
        }
        append_utf8(out, code_point(body.substr(i, count), count, 8));
        i += count - 1;
      } else if (c == 'N') {
        unsupported(line_, "a character by name, \\N{...}");
      } else {
        out += '\\';
        out += c;
      }
    }
    return out;
  }

  uint32_t code_point(std::string_view text, size_t count, uint32_t base) const {
    uint64_t code = 0;
    if (text.size() != count) {
      fail(line_, "a string escape that is cut short");
    }
    for (const char c : text) {
      static constexpr std::string_view kDigits = "0123456789abcdef";
      const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
      const size_t digit = kDigits.find(lower);
      if (digit >= base) {
        fail(line_, "a string escape with a wrong digit");
      }
      code = code * base + digit;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      unsupported(line_, "a string escape that is no Unicode scalar");
    }
    return static_cast<uint32_t>(code);
  }

  void operation(std::string& open) {
    static constexpr std::string_view kOperators[] = {
        "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
        "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    for (const std::string_view op : kOperators) {
      if (!starts(op)) {
        continue;
      }
      const char c = op[0];
      if (c == '(' || c == '[' || c == '{') {
        open += c == '(' ? ')' : c == '[' ? ']' : '}';
      } else if (c == ')' || c == ']' || c == '}') {
        if (open.empty() || open.back() != c) {
          fail(line_, std::string("an unexpected '") + c + "'");
        }
        open.pop_back();
      }
      emit(TokenKind::op, std::string(op));
      advance(op.size());
      return;
    }
    fail(line_, "an unexpected character of code " +
                    std::to_string(static_cast<unsigned char>(text_[at_])));
  }

  std::string text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  bool line_starting_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> lex(std::string_view source) { return Lexer(source).run(); }

}  // namespace thinkd::engine::chat
