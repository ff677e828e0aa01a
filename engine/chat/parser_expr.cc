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

}  // namespace thinkd::engine::chat
