#pragma once
// A parsed template. Chains (`a + b + c`, `x.y[0] | trim`, elif) are flat, so that only real
// nesting, which the parser bounds by limits::kTemplateDepth, makes the tree deep. Immutable after
// parse.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/chat/value.h"

namespace thinkd::engine::chat {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Node;
using Block = std::vector<std::unique_ptr<Node>>;

enum class Op : uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
};

enum class StepKind : uint8_t {
  attribute,  // .name
  item,       // [arguments[0]]
  slice,      // [a:b:c], absent parts null
  method,     // .name(arguments)
  filter,     // | name(arguments)
  test,       // is [not] name(arguments)
};

struct Step {
  StepKind kind;
  uint32_t line;
  std::string name;
  Arguments arguments;
  bool negated = false;
};

enum class ExprKind : uint8_t {
  constant,    // value
  name,        // name
  loop,        // loop.name
  call,        // name(arguments)
  list,        // parts
  tuple,       // parts
  dict,        // parts: key, value, key, value ...
  arithmetic,  // parts[0] ops[0] parts[1] ops[1] ...
  concat,      // parts joined by ~
  compare,     // parts[0] ops[0] parts[1] ..., as Python chains them
  logical_and,
  logical_or,
  logical_not,
  negate,
  plus,
  condition,  // parts: then, condition, otherwise (may be null)
  postfix,    // parts[0] with steps
};

struct Expr {
  ExprKind kind;
  uint32_t line;
  std::string name;
  Value value;
  std::vector<ExprPtr> parts;
  std::vector<Op> ops;
  std::vector<Step> steps;
  Arguments arguments;
};

struct Target {  // of set and for
  std::string name;
  std::string attribute;  // of a namespace; empty for a variable
};

struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  Block body;
  bool builtin = false;  // a function of the environment; only the name counts
};

enum class NodeKind : uint8_t {
  data,
  output,
  condition,
  loop,
  set,
  set_block,
  macro,
  leave,  // break
  next,   // continue
  group,  // a block that only marks its content: generation
};

struct Branch {
  ExprPtr condition;  // null: else
  Block body;
};

struct Node {
  NodeKind kind;
  uint32_t line;
  TextRef data;
  ExprPtr expr;    // output, loop's sequence, set's value
  ExprPtr filter;  // of a loop
  std::vector<Target> targets;
  bool unpack = false;  // the targets are a tuple
  std::vector<Branch> branches;
  Block body;
  Block otherwise;  // of a loop
  std::unique_ptr<Macro> macro;
};

struct Template {
  Block body;
};

// Throws TemplateError.
std::unique_ptr<const Template> parse_template(std::string_view source);

}  // namespace thinkd::engine::chat
