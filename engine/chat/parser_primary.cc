// What operators work on: literals, names, brackets, and what follows them (members, items, calls,
// filters, tests).

#include <algorithm>

#include "base/text.h"
#include "engine/chat/builtins.h"
#include "engine/chat/parser.h"

namespace thinkd::engine::chat {

ExprPtr Parser::primary() {
  const Token& token = now();
  const uint32_t line = token.line;
  ExprPtr node = make(ExprKind::constant, line);
  switch (token.kind) {
    case TokenKind::string: {
      TextBuilder builder;
      while (now().kind == TokenKind::string) {  // neighbours join, as in Python
        builder.append(now().text);
        skip();
      }
      node->value = Value{builder.finish()};
      return node;
    }
    case TokenKind::integer: {
      const auto number = parse_int(token.text);
      if (!number) {
        unsupported(line, "the integer " + token.text.substr(0, 40) + " beyond 64 bits");
      }
      node->value = Value{*number};
      skip();
      return node;
    }
    case TokenKind::number: {
      const auto number = parse_double(token.text);
      if (!number) {
        unsupported(line, "the number " + token.text.substr(0, 40));
      }
      node->value = Value{*number};
      skip();
      return node;
    }
    case TokenKind::name:
      break;
    default:
      return bracketed();
  }
  const std::string name = token.text;
  skip();
  if (name == "true" || name == "True" || name == "false" || name == "False") {
    node->value = Value{name[0] == 't' || name[0] == 'T'};
    return node;
  }
  if (name == "none" || name == "None") {
    node->value = Value{None{}};
    return node;
  }
  if (name == "loop") {
    expect_op(".");
    node->kind = ExprKind::loop;
    node->name = take_name("an attribute of loop");
    static constexpr std::string_view kKnown[] = {"index",    "index0", "revindex", "revindex0",
                                                  "first",    "last",   "length",   "previtem",
                                                  "nextitem", "depth",  "depth0"};
    if (std::find(std::begin(kKnown), std::end(kKnown), node->name) == std::end(kKnown)) {
      unsupported(line, "loop." + node->name.substr(0, 60));
    }
    return node;
  }
  if (name == "self" || name == "super" || name == "lipsum" || name == "cycler" ||
      name == "joiner" || name == "caller" || name == "varargs" || name == "kwargs") {
    unsupported(line, "'" + name + "'");
  }
  if (is_op("(")) {
    return call(line, name);
  }
  node->kind = ExprKind::name;
  node->name = name;
  return node;
}

ExprPtr Parser::call(uint32_t line, std::string name) {
  ExprPtr node = make(ExprKind::call, line);
  node->name = std::move(name);
  node->arguments = arguments();
  return node;
}

ExprPtr Parser::bracketed() {
  const Nest nest(*this);
  const uint32_t line = now().line;
  if (accept_op("(")) {
    ExprPtr node = make(ExprKind::tuple, line);
    if (accept_op(")")) {
      return node;
    }
    ExprPtr first = expression();
    if (accept_op(")")) {
      return first;
    }
    node->parts.push_back(std::move(first));
    while (accept_op(",") && !is_op(")")) {
      node->parts.push_back(expression());
    }
    expect_op(")");
    return node;
  }
  if (accept_op("[")) {
    ExprPtr node = make(ExprKind::list, line);
    while (!accept_op("]")) {
      if (!node->parts.empty()) {
        expect_op(",");
        if (accept_op("]")) {
          break;
        }
      }
      node->parts.push_back(expression());
    }
    return node;
  }
  if (accept_op("{")) {
    return dict();
  }
  unexpected("an expression");
}

ExprPtr Parser::dict() {
  ExprPtr node = make(ExprKind::dict, now().line);
  while (!accept_op("}")) {
    if (!node->parts.empty()) {
      expect_op(",");
      if (accept_op("}")) {
        break;
      }
    }
    node->parts.push_back(expression());
    expect_op(":");
    node->parts.push_back(expression());
  }
  return node;
}

ExprPtr Parser::postfix(ExprPtr node) {
  while (is_op(".") || is_op("[") || is_op("(")) {
    if (is_op("(")) {
      unsupported(now().line, "a call of a value");
    }
    node = chain_of(std::move(node));
    if (is_op(".")) {
      dot(*node);
    } else {
      subscript(*node);
    }
  }
  return node;
}

ExprPtr Parser::filters(ExprPtr node) {
  while (is_op("|") || is_name("is")) {
    node = chain_of(std::move(node));
    if (is_op("|")) {
      filter(*node);
    } else {
      test(*node);
    }
  }
  if (is_op("(")) {
    unsupported(now().line, "a call of a value");
  }
  return node;
}

void Parser::dot(Expr& chain) {
  Step step{StepKind::attribute, now().line, "", {}, false};
  skip();
  if (now().kind == TokenKind::integer) {
    step.kind = StepKind::item;
    step.arguments.positional.push_back(primary());
    chain.steps.push_back(std::move(step));
    return;
  }
  step.name = take_name("the name of an attribute");
  if (is_op("(")) {
    if (!known_method(step.name)) {
      unsupported(step.line, "the method '" + step.name.substr(0, 60) + "'");
    }
    step.kind = StepKind::method;
    step.arguments = arguments();
  }
  chain.steps.push_back(std::move(step));
}

void Parser::subscript(Expr& chain) {
  Step step{StepKind::item, now().line, "", {}, false};
  skip();
  std::vector<ExprPtr>& parts = step.arguments.positional;
  if (!is_op(":")) {
    parts.push_back(expression());
    if (accept_op("]")) {
      chain.steps.push_back(std::move(step));
      return;
    }
  } else {
    parts.push_back(nullptr);
  }
  step.kind = StepKind::slice;
  while (parts.size() < 3 && accept_op(":")) {
    parts.push_back(is_op(":") || is_op("]") ? nullptr : expression());
  }
  if (is_op(",")) {
    unsupported(now().line, "a subscript with a comma");
  }
  expect_op("]");
  parts.resize(3);
  chain.steps.push_back(std::move(step));
}

void Parser::filter(Expr& chain) {
  Step step{StepKind::filter, now().line, "", {}, false};
  skip();
  step.name = take_name("the name of a filter");
  if (!known_filter(step.name)) {
    unsupported(step.line, "the filter '" + step.name.substr(0, 60) + "'");
  }
  if (is_op("(")) {
    step.arguments = arguments();
  }
  chain.steps.push_back(std::move(step));
}

void Parser::test(Expr& chain) {
  Step step{StepKind::test, now().line, "", {}, false};
  skip();
  step.negated = accept_name("not");
  step.name = take_name("the name of a test");
  if (!known_test(step.name)) {
    unsupported(step.line, "the test '" + step.name.substr(0, 60) + "'");
  }
  if (is_op("(")) {
    step.arguments = arguments();
  } else if (now().kind == TokenKind::name || now().kind == TokenKind::string ||
             now().kind == TokenKind::integer || now().kind == TokenKind::number || is_op("[") ||
             is_op("{")) {
    if (is_name("is")) {
      fail(now().line, "tests cannot be chained with 'is'");
    }
    if (!is_name("else") && !is_name("or") && !is_name("and")) {
      step.arguments.positional.push_back(postfix(primary()));
    }
  }
  chain.steps.push_back(std::move(step));
}

Arguments Parser::arguments() {
  const Nest nest(*this);
  Arguments out;
  expect_op("(");
  while (!accept_op(")")) {
    if (!out.positional.empty() || !out.named.empty()) {
      expect_op(",");
      if (accept_op(")")) {
        break;
      }
    }
    if (is_op("*") || is_op("**")) {
      unsupported(now().line, "arguments unpacked with '*'");
    }
    if (now().kind == TokenKind::name && ahead(1).kind == TokenKind::op && ahead(1).text == "=") {
      std::string name = take_name("a name");
      skip();
      out.named.emplace_back(std::move(name), expression());
    } else if (!out.named.empty()) {
      fail(now().line, "a positional argument after a named one");
    } else {
      out.positional.push_back(expression());
    }
  }
  return out;
}

}  // namespace thinkd::engine::chat
