#include "engine/chat/parser.h"

#include <algorithm>

#include "base/limits.h"

namespace thinkd::engine::chat {

Parser::Nest::Nest(Parser& parser) : parser_(parser) {
  if (++parser_.depth_ > limits::kTemplateDepth) {
    const uint32_t depth = parser_.depth_--;
    fail_limit(parser_.now().line, "nested " + std::to_string(depth) + " deep, limit " +
                                       std::to_string(limits::kTemplateDepth));
  }
}

namespace {

std::string shown(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the template";
    case TokenKind::data:
      return "text";
    case TokenKind::block_begin:
      return "'{%'";
    case TokenKind::block_end:
      return "'%}'";
    case TokenKind::variable_begin:
      return "'{{'";
    case TokenKind::variable_end:
      return "'}}'";
    case TokenKind::string:
      return "a string";
    default:
      return "'" + token.text.substr(0, 60) + "'";
  }
}

}  // namespace

void Parser::unexpected(std::string_view wanted) const {
  fail(now().line, "expected " + std::string(wanted) + ", found " + shown(now()));
}

bool Parser::accept_op(std::string_view op) {
  const bool found = is_op(op);
  if (found) {
    skip();
  }
  return found;
}

bool Parser::accept_name(std::string_view name) {
  const bool found = is_name(name);
  if (found) {
    skip();
  }
  return found;
}

void Parser::expect_op(std::string_view op) {
  if (!accept_op(op)) {
    unexpected("'" + std::string(op) + "'");
  }
}

void Parser::expect_name(std::string_view name) {
  if (!accept_name(name)) {
    unexpected("'" + std::string(name) + "'");
  }
}

void Parser::expect(TokenKind kind) {
  if (now().kind != kind) {
    unexpected(shown({kind, "", 0}));
  }
  skip();
}

std::string Parser::take_name(std::string_view what) {
  if (now().kind != TokenKind::name) {
    unexpected(what);
  }
  std::string name = now().text;
  skip();
  return name;
}

Block Parser::whole() {
  Block body = block({});
  if (now().kind != TokenKind::end) {
    unexpected("the end of the template");
  }
  return body;
}

std::unique_ptr<Node> Parser::make_node(NodeKind kind) const {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->line = now().line;
  return node;
}

// Statements up to a tag whose word is in `ends`; that word is the next token afterwards.
Block Parser::block(std::initializer_list<std::string_view> ends) {
  const Nest nest(*this);
  Block body;
  while (true) {
    if (now().kind == TokenKind::data) {
      auto node = make_node(NodeKind::data);
      TextBuilder builder;
      builder.append(now().text);
      node->data = builder.finish();
      body.push_back(std::move(node));
      skip();
    } else if (now().kind == TokenKind::variable_begin) {
      auto node = make_node(NodeKind::output);
      skip();
      node->expr = tuple_expression();
      expect(TokenKind::variable_end);
      body.push_back(std::move(node));
    } else if (now().kind == TokenKind::block_begin) {
      skip();
      if (now().kind == TokenKind::name &&
          std::find(ends.begin(), ends.end(), now().text) != ends.end()) {
        return body;
      }
      body.push_back(statement());
    } else if (now().kind == TokenKind::end && ends.size() == 0) {
      return body;
    } else {
      unexpected(ends.size() == 0 ? "a statement" : "'" + std::string(*(ends.end() - 1)) + "'");
    }
  }
}

std::unique_ptr<Node> Parser::statement() {
  if (now().kind != TokenKind::name) {
    unexpected("the name of a statement");
  }
  const std::string word = now().text;
  if (word == "if") {
    return if_statement();
  }
  if (word == "for") {
    return for_statement();
  }
  if (word == "set") {
    return set_statement();
  }
  if (word == "macro") {
    return macro_statement();
  }
  if (word == "break" || word == "continue") {
    if (loops_ == 0) {
      fail(now().line, "'" + word + "' outside a loop");
    }
    auto node = make_node(word == "break" ? NodeKind::leave : NodeKind::next);
    skip();
    end_tag();
    return node;
  }
  if (word == "generation") {
    auto node = make_node(NodeKind::group);
    skip();
    end_tag();
    node->body = block({"endgeneration"});
    skip();
    end_tag();
    return node;
  }
  static constexpr std::string_view kKnown[] = {
      "with", "filter", "call",       "block", "extends", "include", "import",
      "from", "do",     "autoescape", "print", "trans",   "debug",
  };
  if (std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown)) {
    unsupported(now().line, "the statement '" + word + "'");
  }
  fail(now().line, "no such statement: '" + word.substr(0, 60) + "'");
}

std::unique_ptr<Node> Parser::if_statement() {
  auto node = make_node(NodeKind::condition);
  bool more = true;
  while (more) {
    skip();  // if, elif
    Branch branch;
    branch.condition = tuple_expression();
    end_tag();
    branch.body = block({"elif", "else", "endif"});
    node->branches.push_back(std::move(branch));
    more = is_name("elif");
  }
  if (accept_name("else")) {
    end_tag();
    Branch branch;
    branch.body = block({"endif"});
    node->branches.push_back(std::move(branch));
  }
  expect_name("endif");
  end_tag();
  return node;
}

void Parser::targets(Node& node, bool attributes) {
  const bool bracket = accept_op("(");
  do {
    if (node.unpack && now().kind != TokenKind::name) {
      break;  // a comma after the last
    }
    if (is_op("(")) {
      unsupported(now().line, "nested targets");
    }
    Target target;
    target.name = take_name("the name of a variable");
    if (target.name == "loop" || target.name == "true" || target.name == "false" ||
        target.name == "none" || target.name == "True" || target.name == "False" ||
        target.name == "None" || target.name == "namespace") {
      unsupported(now().line, "an assignment to '" + target.name + "'");
    }
    if (attributes && accept_op(".")) {
      target.attribute = take_name("the name of an attribute");
    }
    node.targets.push_back(std::move(target));
    node.unpack = node.unpack || is_op(",");
  } while (accept_op(","));
  if (bracket) {
    expect_op(")");
  }
}

std::unique_ptr<Node> Parser::for_statement() {
  auto node = make_node(NodeKind::loop);
  skip();
  targets(*node, false);
  expect_name("in");
  // Not `condition`: an `if` here filters the items.
  node->expr = logical_or();
  if (is_op(",")) {
    unsupported(now().line, "a loop over a tuple without brackets");
  }
  if (accept_name("if")) {
    node->filter = expression();
  }
  if (is_name("recursive")) {
    unsupported(now().line, "a recursive loop");
  }
  end_tag();
  ++loops_;
  node->body = block({"endfor", "else"});
  --loops_;
  if (accept_name("else")) {
    end_tag();
    node->otherwise = block({"endfor"});
  }
  expect_name("endfor");
  end_tag();
  return node;
}

std::unique_ptr<Node> Parser::set_statement() {
  auto node = make_node(NodeKind::set);
  skip();
  targets(*node, true);
  if (accept_op("=")) {
    node->expr = tuple_expression();
    end_tag();
    return node;
  }
  if (is_op("|")) {
    unsupported(now().line, "a block set with a filter");
  }
  if (node->unpack) {
    unexpected("'='");
  }
  end_tag();
  node->kind = NodeKind::set_block;
  const uint32_t loops = std::exchange(loops_, 0);
  node->body = block({"endset"});
  loops_ = loops;
  skip();
  end_tag();
  return node;
}

std::unique_ptr<Node> Parser::macro_statement() {
  auto node = make_node(NodeKind::macro);
  if (loops_ > 0 || in_macro_) {
    unsupported(now().line, "a macro inside a loop or another macro");
  }
  skip();
  node->macro = std::make_unique<Macro>();
  Macro& macro = *node->macro;
  macro.name = take_name("the name of a macro");
  expect_op("(");
  while (!accept_op(")")) {
    if (!macro.parameters.empty()) {
      expect_op(",");
      if (accept_op(")")) {
        break;
      }
    }
    macro.parameters.push_back(take_name("the name of a parameter"));
    if (accept_op("=")) {
      macro.defaults.push_back(expression());
    } else if (!macro.defaults.empty()) {
      fail(now().line, "a parameter without a default after one with a default");
    }
  }
  end_tag();
  in_macro_ = true;
  macro.body = block({"endmacro"});
  in_macro_ = false;
  skip();
  end_tag();
  return node;
}

std::unique_ptr<const Template> parse_template(std::string_view source) {
  if (source.size() > limits::kTemplateBytes) {
    fail_limit(1, "the template has " + std::to_string(source.size()) + " bytes, limit " +
                      std::to_string(limits::kTemplateBytes));
  }
  auto root = std::make_unique<Template>();
  root->body = Parser(lex(source)).whole();
  return root;
}

}  // namespace thinkd::engine::chat
