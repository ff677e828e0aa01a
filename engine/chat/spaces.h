#pragma once
// White space as Python sees it in UTF-8 text. Pure functions.

#include <cstddef>
#include <string_view>

namespace thinkd::engine::chat {

// Length in bytes of the Unicode white space (as Python's str.isspace sees it) that starts at `at`,
// or 0.
size_t space_length(std::string_view text, size_t at);
size_t skip_spaces(std::string_view text, size_t at);  // first byte that is not white space
size_t end_without_spaces(std::string_view text);      // length after rstrip

}  // namespace thinkd::engine::chat
