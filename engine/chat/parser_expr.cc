#include <algorithm>

#include "base/text.h"
#include "engine/chat/builtins.h"
#include "engine/chat/parser.h"

namespace thinkd::engine::chat {

ExprPtr Parser::make(ExprKind kind, uint32_t line) const {
  auto node = std::make_unique<Expr>();
  node->kind = kind;
  node->line = line;
  return node;
}

// A postfix node that steps can be added to.
ExprPtr Parser::chain_of(ExprPtr node) const {
  if (node->kind == ExprKind::postfix) {
    return node;
  }
  ExprPtr chain = make(ExprKind::postfix, node->line);
  chain->parts.push_back(std::move(node));
  return chain;
}

// `a, b` without brackets is a tuple.
ExprPtr Parser::tuple_expression() {
  const uint32_t line = now().line;
  ExprPtr first = expression();
  if (!is_op(",")) {
    return first;
  }
  ExprPtr node = make(ExprKind::tuple, line);
  node->parts.push_back(std::move(first));
  while (accept_op(",")) {
    if (now().kind == TokenKind::block_end || now().kind == TokenKind::variable_end) {
      break;
    }
    node->parts.push_back(expression());
  }
  return node;
}

ExprPtr Parser::expression() {
  const Nest nest(*this);
  return condition();
}

ExprPtr Parser::condition() {
  const uint32_t line = now().line;
  ExprPtr value = logical_or();
  if (accept_name("if")) {
    ExprPtr node = make(ExprKind::condition, line);
    node->parts.push_back(std::move(value));
    node->parts.push_back(logical_or());
    node->parts.push_back(accept_name("else") ? expression() : nullptr);
    if (is_name("if")) {
      unsupported(now().line, "an inline if after an inline if");
    }
    return node;
  }
  return value;
}

ExprPtr Parser::logical_or() {
  ExprPtr first = logical_and();
  if (!is_name("or")) {
    return first;
  }
  ExprPtr node = make(ExprKind::logical_or, now().line);
  node->parts.push_back(std::move(first));
  while (accept_name("or")) {
    node->parts.push_back(logical_and());
  }
  return node;
}

ExprPtr Parser::logical_and() {
  ExprPtr first = logical_not();
  if (!is_name("and")) {
    return first;
  }
  ExprPtr node = make(ExprKind::logical_and, now().line);
  node->parts.push_back(std::move(first));
  while (accept_name("and")) {
    node->parts.push_back(logical_not());
  }
  return node;
}

ExprPtr Parser::logical_not() {
  if (!is_name("not")) {
    return comparison();
  }
  const Nest nest(*this);
  ExprPtr node = make(ExprKind::logical_not, now().line);
  skip();
  node->parts.push_back(logical_not());
  return node;
}

ExprPtr Parser::comparison() {
  static constexpr std::pair<std::string_view, Op> kOps[] = {
      {"==", Op::equal},      {"!=", Op::unequal}, {"<", Op::less},
      {"<=", Op::less_equal}, {">", Op::greater},  {">=", Op::greater_equal},
  };
  ExprPtr node = sum();
  bool chained = false;
  while (true) {
    Op op = Op::in;
    if (now().kind == TokenKind::op) {
      const auto* found = std::find_if(std::begin(kOps), std::end(kOps), [&](const auto& entry) {
        return entry.first == now().text;
      });
      if (found == std::end(kOps)) {
        return node;
      }
      op = found->second;
    } else if (is_name("not") && ahead(1).kind == TokenKind::name && ahead(1).text == "in") {
      op = Op::not_in;
      skip();
    } else if (!is_name("in")) {
      return node;
    }
    if (!chained) {
      ExprPtr chain = make(ExprKind::compare, now().line);
      chain->parts.push_back(std::move(node));
      node = std::move(chain);
      chained = true;
    }
    skip();
    node->ops.push_back(op);
    node->parts.push_back(sum());
  }
}

ExprPtr Parser::sum() {
  ExprPtr node = concat();
  if (!is_op("+") && !is_op("-")) {
    return node;
  }
  ExprPtr chain = make(ExprKind::arithmetic, now().line);
  chain->parts.push_back(std::move(node));
  while (is_op("+") || is_op("-")) {
    chain->ops.push_back(is_op("+") ? Op::add : Op::subtract);
    skip();
    chain->parts.push_back(concat());
  }
  return chain;
}

ExprPtr Parser::concat() {
  ExprPtr node = product();
  if (!is_op("~")) {
    return node;
  }
  ExprPtr chain = make(ExprKind::concat, now().line);
  chain->parts.push_back(std::move(node));
  while (accept_op("~")) {
    chain->parts.push_back(product());
  }
  return chain;
}

ExprPtr Parser::product() {
  static constexpr std::pair<std::string_view, Op> kOps[] = {
      {"*", Op::multiply}, {"/", Op::divide}, {"//", Op::floor_divide}, {"%", Op::modulo}};
  ExprPtr node = unary(true);
  bool chained = false;
  while (now().kind == TokenKind::op) {
    if (now().text == "**") {
      unsupported(now().line, "the operator '**'");
    }
    const auto* found = std::find_if(std::begin(kOps), std::end(kOps),
                                     [&](const auto& entry) { return entry.first == now().text; });
    if (found == std::end(kOps)) {
      break;
    }
    if (!chained) {
      ExprPtr chain = make(ExprKind::arithmetic, now().line);
      chain->parts.push_back(std::move(node));
      node = std::move(chain);
      chained = true;
    }
    node->ops.push_back(found->second);
    skip();
    node->parts.push_back(unary(true));
  }
  return node;
}

ExprPtr Parser::unary(bool with_filter) {
  ExprPtr node;
  if (is_op("-") || is_op("+")) {
    const Nest nest(*this);
    node = make(is_op("-") ? ExprKind::negate : ExprKind::plus, now().line);
    skip();
    node->parts.push_back(unary(false));
  } else {
    node = primary();
  }
  node = postfix(std::move(node));
  return with_filter ? filters(std::move(node)) : std::move(node);
}

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
