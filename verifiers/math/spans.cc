#include "verifiers/math/spans.h"

#include <algorithm>

namespace thinkd::verifiers::math {
bool opens(const Token& t) {
  return t.is("(") || t.is("[") || t.is("{") || t.is("set{") || t.is("begin");
}
bool closes(const Token& t) {
  return t.is(")") || t.is("]") || t.is("}") || t.is("set}") || t.is("end");
}

bool is_relation(const Token& t) {
  return t.kind == Kind::symbol && (t.text == "=" || t.text == "<" || t.text == ">" ||
                                    t.text == "<=" || t.text == ">=" || t.text == "!=");
}

std::vector<Tokens> split(Tokens tokens, std::string_view separator, std::string_view other) {
  std::vector<Tokens> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    depth += opens(tokens[i]) ? 1 : 0;
    depth -= closes(tokens[i]) ? 1 : 0;
    if (depth == 0 && (tokens[i].is(separator) || tokens[i].is(other))) {
      parts.push_back(tokens.subspan(start, i - start));
      start = i + 1;
    }
  }
  parts.push_back(tokens.subspan(start));
  return parts;
}

bool enclosed(Tokens tokens) {
  if (tokens.size() < 2 || !opens(tokens.front()) || !closes(tokens.back())) {
    return false;
  }
  int depth = 0;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    depth += opens(tokens[i]) ? 1 : 0;
    depth -= closes(tokens[i]) ? 1 : 0;
    if (depth == 0) {
      return false;
    }
  }
  return true;
}

bool lone_name(Tokens tokens) {
  const bool letter = !tokens.empty() && tokens[0].kind == Kind::letter;
  const bool call = tokens.size() == 4 && tokens[1].is("(") && tokens[2].kind == Kind::letter &&
                    tokens[3].is(")");
  return letter && (tokens.size() == 1 || call || (tokens.size() == 3 && tokens[1].is("_")));
}

bool lone_names(Tokens tokens) {
  if (!enclosed(tokens) || tokens.size() < 5) {
    return false;
  }
  const std::vector<Tokens> parts = split(tokens.subspan(1, tokens.size() - 2), ",");
  return parts.size() > 1 && std::all_of(parts.begin(), parts.end(), lone_name);
}

std::string joined(Tokens tokens) {
  std::string result;
  for (const Token& token : tokens) {
    result += token.text;
  }
  return result;
}

Tokens without_units(Tokens tokens) {
  while (tokens.size() > 1) {
    size_t end = tokens.size();
    if (tokens[end - 1].is("}") && end > 3 && tokens[end - 3].is("{") && tokens[end - 4].is("^")) {
      end -= 4;
    } else if (end > 2 && tokens[end - 1].kind == Kind::number && tokens[end - 2].is("^")) {
      end -= 2;
    }
    if (end < 2 || tokens[end - 1].kind != Kind::text) {
      break;
    }
    --end;
    if (end > 1 && tokens[end - 1].is("/")) {
      --end;
    }
    tokens = tokens.first(end);
  }
  return tokens;
}

}  // namespace thinkd::verifiers::math
