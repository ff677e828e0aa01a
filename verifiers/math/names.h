#pragma once
// The vocabulary of the lexer: functions, Greek letters, units, commands and signs. Tables only.

#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace thinkd::verifiers::math {

bool is_function(std::string_view name);
bool is_greek(std::string_view name);
bool is_text_command(std::string_view name);

// Words that stand for a sign: "infinity", "percent", "degrees", "pi", "sqrt"; empty for others.
// The word is in lower case.
std::string_view named_word(std::string_view word);

// "ab", "xyz": variables side by side, and not a word or a unit.
bool is_product_of_letters(std::string_view word);

// The symbol that a LaTeX command means; an empty one is a space; nullopt where it is unknown here.
std::optional<std::string_view> command_meaning(std::string_view name);

// Signs outside letters and digits, ASCII and not, longest first where one begins another. An empty
// meaning is a space; "^2" is an exponent; "letter theta" a variable.
std::span<const std::pair<std::string_view, std::string_view>> signs();

}  // namespace thinkd::verifiers::math
