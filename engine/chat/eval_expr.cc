#include <algorithm>
#include <array>
#include <optional>

#include "base/limits.h"
#include "engine/chat/evaluator.h"
#include "engine/chat/strftime.h"

namespace thinkd::engine::chat {

Value Evaluator::eval(const Expr& expr) {
  const Frame frame(*this, expr.line);
  switch (expr.kind) {
    case ExprKind::constant:
      return expr.value;
    case ExprKind::name:
      return lookup(expr.name);
    case ExprKind::loop:
      return loop_attribute(expr.name);
    case ExprKind::call:
      return call(expr);
    case ExprKind::list:
    case ExprKind::tuple: {
      std::vector<Value> items;
      for (const ExprPtr& part : expr.parts) {
        items.push_back(eval(*part));
      }
      return make_list(std::move(items),
                       expr.kind == ExprKind::list ? ListKind::list : ListKind::tuple, expr.line);
    }
    case ExprKind::dict: {
      std::vector<std::pair<Value, Value>> items;
      for (size_t i = 0; i + 1 < expr.parts.size(); i += 2) {
        Value key = eval(*expr.parts[i]);
        items.emplace_back(std::move(key), eval(*expr.parts[i + 1]));
      }
      return make_dict(std::move(items), meter_);
    }
    case ExprKind::arithmetic: {
      Value value = eval(*expr.parts[0]);
      for (size_t i = 0; i < expr.ops.size(); ++i) {
        const Value right = eval(*expr.parts[i + 1]);
        meter_.line = expr.line;
        value = arithmetic(expr.ops[i], value, right);
      }
      return value;
    }
    case ExprKind::concat:
      return concat(expr);
    case ExprKind::compare:
      return Value{compare_chain(expr)};
    case ExprKind::logical_and:
    case ExprKind::logical_or: {
      const bool stops_at = expr.kind == ExprKind::logical_or;
      Value value = eval(*expr.parts[0]);
      for (size_t i = 1; i < expr.parts.size() && truthy(value) != stops_at; ++i) {
        value = eval(*expr.parts[i]);
      }
      return value;
    }
    case ExprKind::logical_not:
      return Value{!truthy(eval(*expr.parts[0]))};
    case ExprKind::negate:
    case ExprKind::plus: {
      const Value value = eval(*expr.parts[0]);
      if (const double* d = value.as<double>()) {
        return Value{expr.kind == ExprKind::negate ? -*d : *d};
      }
      const int64_t number = need_int(value, "a sign", meter_);
      if (expr.kind == ExprKind::negate && number == INT64_MIN) {
        unsupported(expr.line, "an integer beyond 64 bits");
      }
      return Value{expr.kind == ExprKind::negate ? -number : number};
    }
    case ExprKind::condition:
      if (truthy(eval(*expr.parts[1]))) {
        return eval(*expr.parts[0]);
      }
      return expr.parts[2] != nullptr ? eval(*expr.parts[2])
                                      : undefined("an inline if without else");
    case ExprKind::postfix:
      return postfix(expr);
  }
  fail(expr.line, "an expression of no known kind");
}

Value Evaluator::lookup(const std::string& name) {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) {
      return found->second;
    }
  }
  return undefined("'" + name.substr(0, 80) + "'");
}

Value Evaluator::loop_attribute(const std::string& name) {
  const Scope* scope = scope_;
  while (scope != nullptr && scope->loop == nullptr) {
    scope = scope->parent;
  }
  if (scope == nullptr) {
    fail(meter_.line, "'loop' is undefined");
  }
  const Loop& loop = *scope->loop;
  const auto index = static_cast<int64_t>(loop.index);
  const auto length = static_cast<int64_t>(loop.items.size());
  if (name == "index") {
    return Value{index + 1};
  }
  if (name == "index0") {
    return Value{index};
  }
  if (name == "revindex") {
    return Value{length - index};
  }
  if (name == "revindex0") {
    return Value{length - index - 1};
  }
  if (name == "first") {
    return Value{index == 0};
  }
  if (name == "last") {
    return Value{index + 1 == length};
  }
  if (name == "length") {
    return Value{length};
  }
  if (name == "previtem") {
    return index > 0 ? loop.items[loop.index - 1] : undefined("the item before the first");
  }
  if (name == "nextitem") {
    return index + 1 < length ? loop.items[loop.index + 1] : undefined("the item after the last");
  }
  // Jinja counts recursion of the same loop here, not nesting.
  return Value{int64_t{name == "depth" ? 1 : 0}};
}

Value Evaluator::postfix(const Expr& expr) {
  Value value = eval(*expr.parts[0]);
  for (const Step& step : expr.steps) {
    meter_.spend(1);
    value = apply(step, value);
  }
  return value;
}

Value Evaluator::apply(const Step& step, const Value& value) {
  meter_.line = step.line;
  if (step.kind == StepKind::attribute) {
    return attribute_of(value, step.name, meter_);
  }
  if (step.kind == StepKind::slice) {
    return slice(step, value);
  }
  const Args args = evaluate(step.arguments);
  meter_.line = step.line;
  switch (step.kind) {
    case StepKind::item:
      return item_of(value, args.positional[0], meter_);
    case StepKind::method:
      return call_method(step.name, value, args, meter_);
    case StepKind::filter:
      return call_filter(step.name, value, args, meter_);
    default:
      return Value{call_test(step.name, value, args, meter_) != step.negated};
  }
}

Args Evaluator::evaluate(const Arguments& arguments) {
  Args args;
  for (const ExprPtr& part : arguments.positional) {
    args.positional.push_back(eval(*part));
  }
  for (const auto& [name, part] : arguments.named) {
    args.named.emplace_back(name, eval(*part));
  }
  return args;
}

Value Evaluator::slice(const Step& step, const Value& value) {
  std::array<std::optional<int64_t>, 3> bound;
  for (size_t i = 0; i < 3; ++i) {
    if (step.arguments.positional[i] != nullptr) {
      const Value part = eval(*step.arguments.positional[i]);
      if (!part.is<None>()) {
        bound[i] = need_int(part, "a slice", meter_);
      }
    }
  }
  meter_.line = step.line;
  if (value.is<Undefined>()) {
    need_text(value, "a slice", meter_);
  }
  const List* list = value.list();
  if (value.text() == nullptr &&
      (list == nullptr || list->kind == ListKind::view || list->kind == ListKind::generator)) {
    fail(step.line, "a " + std::string(type_name(value)) + " cannot be sliced");
  }
  const std::vector<Value> items = iterate(value, meter_);
  const auto size = static_cast<int64_t>(items.size());
  const int64_t stride = bound[2].value_or(1);
  if (stride == 0) {
    fail(step.line, "a slice with step 0");
  }
  const int64_t low = stride > 0 ? 0 : -1;
  const int64_t high = stride > 0 ? size : size - 1;
  const auto place = [&](std::optional<int64_t> at, int64_t otherwise) {
    if (!at) {
      return otherwise;
    }
    return std::clamp(*at < 0 ? *at + size : *at, low, high);
  };
  const int64_t begin = place(bound[0], stride > 0 ? low : high);
  const int64_t end = place(bound[1], stride > 0 ? high : low);
  std::vector<Value> chosen;
  for (int64_t i = begin; stride > 0 ? i < end : i > end;) {
    chosen.push_back(items[static_cast<size_t>(i)]);
    if (__builtin_add_overflow(i, stride, &i)) {
      break;
    }
  }
  if (value.text() == nullptr) {
    return make_list(std::move(chosen), list->kind, step.line);
  }
  TextBuilder out;
  for (const Value& character : chosen) {
    out.append(*character.text());
  }
  return Value{finish(out, meter_)};
}

Value Evaluator::concat(const Expr& expr) {
  TextBuilder out;
  for (const ExprPtr& part : expr.parts) {
    const TextRef text = to_str(eval(*part), expr.line);
    meter_.line = expr.line;
    if (text->markup) {
      unsupported(expr.line, "'~' on a text marked 'safe'");
    }
    check_size(out.size() + text->bytes.size(), meter_);
    out.append(*text);
  }
  return Value{finish(out, meter_)};
}

bool Evaluator::compare_chain(const Expr& expr) {
  Value left = eval(*expr.parts[0]);
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    Value right = eval(*expr.parts[i + 1]);
    meter_.line = expr.line;
    if (!compare_one(expr.ops[i], left, right)) {
      return false;
    }
    left = std::move(right);
  }
  return true;
}

bool Evaluator::compare_one(Op op, const Value& left, const Value& right) {
  switch (op) {
    case Op::equal:
      return equal(left, right, meter_);
    case Op::unequal:
      return !equal(left, right, meter_);
    case Op::less:
      return compare(left, right, meter_) < 0;
    case Op::less_equal:
      return compare(left, right, meter_) <= 0;
    case Op::greater:
      return compare(left, right, meter_) > 0;
    case Op::greater_equal:
      return compare(left, right, meter_) >= 0;
    case Op::in:
      return contains(right, left, meter_);
    default:
      return !contains(right, left, meter_);
  }
}

Value Evaluator::call(const Expr& expr) {
  const Value callee = lookup(expr.name);
  const Args args = evaluate(expr.arguments);
  meter_.line = expr.line;
  if (const Macro* const* macro = callee.as<const Macro*>()) {
    return (*macro)->builtin ? call_builtin((*macro)->name, args) : call_macro(**macro, args);
  }
  if (!callee.is<Undefined>()) {
    fail(expr.line,
         "'" + expr.name + "' is a " + std::string(type_name(callee)) + " and cannot be called");
  }
  fail(expr.line, "'" + expr.name.substr(0, 80) + "' is undefined");
}

Value Evaluator::call_builtin(const std::string& name, const Args& args) {
  if (name == "raise_exception") {
    args.allow({"message"}, meter_);
    const Value* message = args.get(0, "message");
    fail(meter_.line, message == nullptr ? name : to_str(*message, meter_.line)->bytes);
  }
  if (name == "range") {
    return range(args);
  }
  if (name == "strftime_now") {
    return strftime(args);
  }
  std::vector<std::pair<Value, Value>> items;
  if (!args.positional.empty()) {
    const Dict* from = args.positional[0].dict();
    if (from == nullptr || args.positional.size() > 1) {
      unsupported(meter_.line, name + " of anything but a dict and named values");
    }
    meter_.spend(from->items.size());
    items = from->items;
  }
  for (const auto& [key, value] : args.named) {
    items.emplace_back(make_text(key), value);
  }
  Value dict = make_dict(std::move(items), meter_);
  if (name == "dict") {
    return dict;
  }
  auto space = std::make_shared<Namespace>();
  for (const auto& [key, value] : dict.dict()->items) {
    space->attributes[need_text(key, "namespace", meter_).bytes] = value;
  }
  return Value{std::move(space)};
}

Value Evaluator::call_macro(const Macro& macro, const Args& args) {
  Scope inner{&top_, nullptr, {}};
  if (args.positional.size() > macro.parameters.size()) {
    fail(meter_.line, "the macro '" + macro.name + "' takes " +
                          std::to_string(macro.parameters.size()) + " arguments, given " +
                          std::to_string(args.positional.size()));
  }
  for (const auto& [name, value] : args.named) {
    const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), name);
    if (found == macro.parameters.end() ||
        found - macro.parameters.begin() < static_cast<ptrdiff_t>(args.positional.size())) {
      fail(meter_.line, "the macro '" + macro.name + "' does not take '" + name + "' so");
    }
  }
  const size_t plain = macro.parameters.size() - macro.defaults.size();
  Scope* const outer = std::exchange(scope_, &inner);
  for (size_t i = 0; i < macro.parameters.size(); ++i) {
    const std::string& name = macro.parameters[i];
    const Value* given = args.get(i, name);
    Value value = given != nullptr ? *given
                  : i >= plain     ? eval(*macro.defaults[i - plain])
                                   : undefined("parameter '" + name + "'");
    inner.names[name] = std::move(value);
  }
  scope_ = outer;
  return Value{capture(macro.body, inner)};
}

Value Evaluator::range(const Args& args) {
  static constexpr int64_t kMost = 100'000;  // as Jinja's sandbox has it
  std::array<int64_t, 3> part{0, 0, 1};
  const size_t count = args.positional.size();
  if (count == 0 || count > 3 || !args.named.empty()) {
    fail(meter_.line, "range needs one to three integers");
  }
  for (size_t i = 0; i < count; ++i) {
    part[count == 1 ? 1 : i] = need_int(args.positional[i], "range", meter_);
  }
  const auto [begin, end, stride] = part;
  if (stride == 0) {
    fail(meter_.line, "range with step 0");
  }
  std::vector<Value> items;
  for (int64_t i = begin; stride > 0 ? i < end : i > end;) {
    meter_.spend(1);
    if (static_cast<int64_t>(items.size()) >= kMost) {
      fail_limit(meter_.line, "range of more than " + std::to_string(kMost) + " items");
    }
    items.emplace_back().data = i;
    if (__builtin_add_overflow(i, stride, &i)) {
      break;
    }
  }
  return make_list(std::move(items), ListKind::range, meter_.line);
}

Value Evaluator::strftime(const Args& args) {
  args.allow({"format"}, meter_);
  const Value* format = args.get(0, "format");
  if (format == nullptr) {
    fail(meter_.line, "strftime_now needs a format");
  }
  const Text& text = need_text(*format, "strftime_now", meter_);
  meter_.bytes(text.bytes.size());
  check_size(text.bytes.size() * 16, meter_);
  // A format from a message marks the whole.
  return make_text(format_date(text.bytes, options_.date, meter_.line), !text.user.empty());
}

}  // namespace thinkd::engine::chat
