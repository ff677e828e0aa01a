#include "engine/tokenizer/pre_tokenizer.h"

#include <array>
#include <limits>
#include <utility>

#include "engine/tokenizer/unicode.h"

namespace thinkd::engine {

namespace {

constexpr std::array<std::pair<std::string_view, PreTokenizer>, 4> kKnown = {{
    {"gpt-2", PreTokenizer::gpt2},
    {"llama-bpe", PreTokenizer::llama_bpe},
    {"qwen2", PreTokenizer::qwen2},
    {"smollm", PreTokenizer::smollm},
}};

constexpr size_t kAll = std::numeric_limits<size_t>::max();
constexpr uint32_t kLongS = 0x17F;  // folds to s in a case-insensitive match

// One character of the text with its class; past the end `bytes` is 0 and the class is `other`.
struct Seen {
  uint32_t code_point = 0;
  uint32_t bytes = 0;
  CharClass kind = CharClass::other;

  bool end() const { return bytes == 0; }
  bool is(CharClass wanted) const { return !end() && kind == wanted; }
  bool is(char wanted) const { return !end() && code_point == static_cast<uint8_t>(wanted); }
  bool newline() const { return is('\n') || is('\r'); }
  // [^\s\p{L}\p{N}]
  bool symbol() const { return !end() && kind == CharClass::other; }
};

constexpr std::array<CharClass, 128> ascii_classes() {
  std::array<CharClass, 128> classes{};
  for (uint32_t c = 0; c < 128; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool space = c == ' ' || (c >= '\t' && c <= '\r');
    classes[c] = letter                 ? CharClass::letter
                 : c >= '0' && c <= '9' ? CharClass::number
                 : space                ? CharClass::space
                                        : CharClass::other;
  }
  return classes;
}

constexpr std::array<CharClass, 128> kAsciiClasses = ascii_classes();

// Each match_* gives the end of the match that starts at `at`, or `at` where there is none.
class Matcher {
 public:
  explicit Matcher(std::string_view text) : text_(text) {}

  size_t gpt2(size_t at) const {
    if (const size_t end = contraction(at, false); end != at) {
      return end;
    }
    const size_t body = see(at).is(' ') ? at + 1 : at;
    const Seen first = see(body);
    if (first.is(CharClass::letter) || first.is(CharClass::number) || first.symbol()) {
      return run(body, first.kind);
    }
    return spaces(at);
  }

  // llama-bpe and qwen2: numbers come in groups of at most `digits`.
  size_t split(size_t at, size_t digits) const {
    if (const size_t end = contraction(at, true); end != at) {
      return end;
    }
    const Seen first = see(at);
    if (first.is(CharClass::letter)) {
      return run(at, CharClass::letter);
    }
    if (first.is(CharClass::number)) {
      return run(at, CharClass::number, digits);
    }
    const size_t second = at + first.bytes;
    if (!first.newline() && see(second).is(CharClass::letter)) {
      return run(second, CharClass::letter);
    }
    const size_t body = first.is(' ') ? second : at;
    if (see(body).symbol()) {
      return newlines(run(body, CharClass::other));
    }
    const size_t last_newline = after_last_newline(at);
    return last_newline != at ? last_newline : spaces(at);
  }

  size_t number(size_t at) const { return run(at, CharClass::number, 1); }

 private:
  Seen see(size_t at) const {
    if (at >= text_.size()) {
      return {};
    }
    if (const auto byte = static_cast<uint8_t>(text_[at]); byte < 128) {
      return {byte, 1, kAsciiClasses[byte]};
    }
    const Character character = read_character(text_, at);
    return {character.code_point, character.bytes, char_class(character.code_point)};
  }

  size_t run(size_t at, CharClass kind, size_t most = kAll) const {
    for (Seen seen = see(at); seen.is(kind) && most != 0; seen = see(at), --most) {
      at += seen.bytes;
    }
    return at;
  }

  size_t newlines(size_t at) const {
    while (see(at).newline()) {
      ++at;
    }
    return at;
  }

  // 's|'t|'re|'ve|'m|'ll|'d
  size_t contraction(size_t at, bool fold) const {
    if (!see(at).is('\'')) {
      return at;
    }
    const Seen first = see(at + 1);
    const uint32_t one = fold ? folded(first.code_point) : first.code_point;
    if (one == 's' || one == 't' || one == 'm' || one == 'd') {
      return at + 1 + first.bytes;
    }
    const Seen second = see(at + 1 + first.bytes);
    const uint32_t two = fold ? folded(second.code_point) : second.code_point;
    if ((one == 'r' && two == 'e') || (one == 'v' && two == 'e') || (one == 'l' && two == 'l')) {
      return at + 1 + first.bytes + second.bytes;
    }
    return at;
  }

  static uint32_t folded(uint32_t code_point) {
    if (code_point == kLongS) {
      return 's';
    }
    return code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : code_point;
  }

  // \s+(?!\S)|\s+ : a run of spaces leaves its last one to the word that follows.
  size_t spaces(size_t at) const {
    size_t last = at;
    size_t end = at;
    for (Seen seen = see(end); seen.is(CharClass::space); seen = see(end)) {
      last = end;
      end += seen.bytes;
    }
    return see(end).end() || last == at ? end : last;
  }

  // \s*[\r\n]+
  size_t after_last_newline(size_t at) const {
    size_t found = at;
    for (Seen seen = see(at); seen.is(CharClass::space); seen = see(at)) {
      at += seen.bytes;
      found = seen.newline() ? at : found;
    }
    return found;
  }

  std::string_view text_;
};

void add_gpt2_words(std::string_view text, std::vector<std::string_view>& words) {
  const Matcher matcher(text);
  for (size_t at = 0; at < text.size();) {
    const size_t end = matcher.gpt2(at);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
}

void add_split_words(std::string_view text, size_t digits, std::vector<std::string_view>& words) {
  const Matcher matcher(text);
  for (size_t at = 0; at < text.size();) {
    const size_t end = matcher.split(at, digits);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
}

// The stretches between numbers are cut each on its own: a lookahead never sees past their ends.
void add_smollm_words(std::string_view text, std::vector<std::string_view>& words) {
  const Matcher matcher(text);
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = matcher.number(at);
    if (end == at) {
      at += read_character(text, at).bytes;
      continue;
    }
    add_gpt2_words(text.substr(begin, at - begin), words);
    words.push_back(text.substr(at, end - at));
    at = begin = end;
  }
  add_gpt2_words(text.substr(begin), words);
}

}  // namespace

std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name) {
  for (const auto& [known, pre] : kKnown) {
    if (known == name) {
      return pre;
    }
  }
  return std::nullopt;
}

std::string known_pre_tokenizers() {
  std::string names;
  for (const auto& [known, pre] : kKnown) {
    names += names.empty() ? "" : ", ";
    names += known;
  }
  return names;
}

bool ignores_merges(PreTokenizer pre) { return pre == PreTokenizer::llama_bpe; }

std::vector<std::string_view> split_words(PreTokenizer pre, std::string_view text) {
  std::vector<std::string_view> words;
  switch (pre) {
    case PreTokenizer::gpt2:
      add_gpt2_words(text, words);
      break;
    case PreTokenizer::smollm:
      add_smollm_words(text, words);
      break;
    case PreTokenizer::llama_bpe:
      add_split_words(text, 3, words);
      break;
    case PreTokenizer::qwen2:
      add_split_words(text, 1, words);
      break;
  }
  return words;
}

}  // namespace thinkd::engine
