#pragma once
// Template source to tokens, with Jinja's white-space rules (trim_blocks, lstrip_blocks, `-`, `+`)
// already applied to the data between tags. Source of the rules: Jinja 3.1's documentation,
// "Whitespace Control". Comments and raw blocks are gone from the result. Throws TemplateError.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd::engine::chat {

enum class TokenKind : uint8_t {
  data,            // text between tags
  block_begin,     // {%
  block_end,       // %}
  variable_begin,  // {{
  variable_end,    // }}
  name,
  string,   // text holds the value, escapes resolved
  integer,  // text holds the digits
  number,   // a float; text holds it without underscores
  op,       // text holds the operator
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  uint32_t line = 1;
};

std::vector<Token> lex(std::string_view source);

}  // namespace thinkd::engine::chat
