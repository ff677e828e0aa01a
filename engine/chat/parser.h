#pragma once
// Recursive descent over the tokens of one template; expressions in parser_expr.cc, statements in
// parser.cc. The grammar is Jinja 3.1's, precedence included. Depth is counted at each nesting, so
// the C++ stack is bounded by limits::kTemplateDepth. Throws TemplateError.

#include <string>
#include <string_view>
#include <vector>

#include "engine/chat/ast.h"
#include "engine/chat/lexer.h"

namespace thinkd::engine::chat {

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Block whole();

 private:
  class Nest;  // counts one level of nesting while it lives

  // Tokens.
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t count) const {
    return tokens_[std::min(at_ + count, tokens_.size() - 1)];
  }
  bool is_op(std::string_view op) const { return now().kind == TokenKind::op && now().text == op; }
  bool is_name(std::string_view name) const {
    return now().kind == TokenKind::name && now().text == name;
  }
  bool accept_op(std::string_view op);
  bool accept_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  void expect(TokenKind kind);
  std::string take_name(std::string_view what);
  void skip() { at_ += at_ + 1 < tokens_.size() ? 1 : 0; }
  [[noreturn]] void unexpected(std::string_view wanted) const;

  // Statements.
  Block block(std::initializer_list<std::string_view> ends);
  std::unique_ptr<Node> statement();
  std::unique_ptr<Node> if_statement();
  std::unique_ptr<Node> for_statement();
  std::unique_ptr<Node> set_statement();
  std::unique_ptr<Node> macro_statement();
  std::unique_ptr<Node> make_node(NodeKind kind) const;
  void targets(Node& node, bool attributes);
  void end_tag() { expect(TokenKind::block_end); }

  // Expressions.
  ExprPtr tuple_expression();
  ExprPtr expression();
  ExprPtr condition();
  ExprPtr logical_or();
  ExprPtr logical_and();
  ExprPtr logical_not();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr concat();
  ExprPtr product();
  ExprPtr unary(bool with_filter);
  ExprPtr primary();
  ExprPtr bracketed();
  ExprPtr dict();
  ExprPtr call(uint32_t line, std::string name);
  ExprPtr postfix(ExprPtr node);
  ExprPtr filters(ExprPtr node);
  void dot(Expr& chain);
  void subscript(Expr& chain);
  void filter(Expr& chain);
  void test(Expr& chain);
  Arguments arguments();
  ExprPtr make(ExprKind kind, uint32_t line) const;
  ExprPtr chain_of(ExprPtr node) const;

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  uint32_t loops_ = 0;
  bool in_macro_ = false;
};

class Parser::Nest {
 public:
  explicit Nest(Parser& parser);
  ~Nest() { --parser_.depth_; }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

 private:
  Parser& parser_;
};

}  // namespace thinkd::engine::chat
