#pragma once
// Walks a parsed template once. Statements in evaluator.cc, expressions in eval_expr.cc.
//
// Scopes follow Jinja: a loop body, a macro and a block set have their own; `if` has none; a macro
// sees the top level only. C++ recursion is bounded by kDepth frames, macro calls included.
// One object per render, used by one thread. Throws TemplateError.

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat/ast.h"
#include "engine/chat/builtins.h"
#include "engine/chat/chat_template.h"

namespace thinkd::engine::chat {

class Evaluator {
 public:
  explicit Evaluator(const RenderOptions& options);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  void define(std::string name, Value value) { top_.names[std::move(name)] = std::move(value); }
  Text run(const Template& root);

  Meter& meter() { return meter_; }

 private:
  enum class Flow : uint8_t { on, leave, next };

  struct Loop {
    const std::vector<Value>& items;
    size_t index = 0;
    uint32_t depth = 1;
  };

  struct Scope {
    Scope* parent = nullptr;
    const Loop* loop = nullptr;
    std::map<std::string, Value, std::less<>> names;
  };

  class Frame;  // one level of C++ recursion

  // Statements.
  Flow run_block(const Block& block);
  Flow run_node(const Node& node);
  Flow run_branches(const Node& node);
  void run_loop(const Node& node);
  void assign(const Node& node, const std::vector<Target>& targets, bool unpack, Value value);
  void assign_one(const Target& target, Value value);
  void print(const Text& text);
  // The text that `block` prints in a scope of its own.
  TextRef capture(const Block& block, Scope& scope);

  // Expressions.
  Value eval(const Expr& expr);
  Value lookup(const std::string& name);
  Value loop_attribute(const std::string& name);
  Value postfix(const Expr& expr);
  Value apply(const Step& step, const Value& value);
  Value slice(const Step& step, const Value& value);
  Value arithmetic(Op op, const Value& left, const Value& right);
  Value add(const Value& left, const Value& right);
  Value repeat(const Value& value, int64_t count);
  Value concat(const Expr& expr);
  bool compare_chain(const Expr& expr);
  bool compare_one(Op op, const Value& left, const Value& right);
  Value call(const Expr& expr);
  Value call_builtin(const std::string& name, const Args& args);
  Value call_macro(const Macro& macro, const Args& args);
  Value range(const Args& args);
  Value strftime(const Args& args);
  Args evaluate(const Arguments& arguments);

  const RenderOptions& options_;
  Meter meter_;
  std::array<Macro, 5> builtins_;
  Scope globals_;
  Scope top_;
  Scope* scope_ = &top_;
  TextBuilder* out_ = nullptr;
  uint32_t frames_ = 0;
};

class Evaluator::Frame {
 public:
  explicit Frame(Evaluator& owner, uint32_t line);
  ~Frame() { --owner_.frames_; }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

 private:
  Evaluator& owner_;
};

}  // namespace thinkd::engine::chat
