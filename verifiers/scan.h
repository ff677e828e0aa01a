#pragma once
// Small scanners that this room shares: bytes, trimming, folded search, boxes, choice letters.
// Pure functions on views; linear in the text.

#include <cstddef>
#include <string>
#include <string_view>

namespace thinkd::verifiers {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
inline bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
inline bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }
inline char lower(char c) { return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view trim(std::string_view text);
std::string folded(std::string_view text);  // ASCII lower case

// The last place of a lower-case ASCII word, whatever the case in the text; npos where there is
// none.
size_t rfind_folded(std::string_view text, std::string_view word);

// At most `bytes` bytes with control bytes and broken ends replaced: for messages.
std::string printable(std::string_view text, size_t bytes);

struct Boxed {
  bool present = false;  // a box was opened somewhere
  bool found = false;    // and the last one is closed and not empty
  std::string answer;    // the last box, or the joined ones with ", " between them
};

// The last \boxed{} or \fbox{}, joined with those before it where only "and", "or", commas, dollar
// signs and spaces stand between them.
Boxed last_boxes(std::string_view text);

// The one letter A to J that the text chooses, else 0 ("A or B" chooses none).
char choice_letter(std::string_view text);

}  // namespace thinkd::verifiers
