// Python's operators on numbers, texts and lists.

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "engine/chat/evaluator.h"

namespace thinkd::engine::chat {

Value Evaluator::add(const Value& left, const Value& right) {
  if (left.text() != nullptr && right.text() != nullptr) {
    if (left.text()->markup || right.text()->markup) {
      unsupported(meter_.line, "'+' on a text marked 'safe'");
    }
    check_size(left.text()->bytes.size() + right.text()->bytes.size(), meter_);
    TextBuilder out;
    out.append(*left.text());
    out.append(*right.text());
    return Value{finish(out, meter_)};
  }
  const List* a = left.list();
  const List* b = right.list();
  if (a != nullptr && b != nullptr && a->kind == b->kind &&
      (a->kind == ListKind::list || a->kind == ListKind::tuple)) {
    meter_.spend(a->items.size() + b->items.size());
    std::vector<Value> items = a->items;
    items.insert(items.end(), b->items.begin(), b->items.end());
    return make_list(std::move(items), a->kind, meter_.line);
  }
  if (left.is<Undefined>() || right.is<Undefined>()) {
    need_text(left.is<Undefined>() ? left : right, "'+'", meter_);
  }
  fail(meter_.line,
       "'+' between " + std::string(type_name(left)) + " and " + std::string(type_name(right)));
}

Value Evaluator::repeat(const Value& value, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (const Text* text = value.text()) {
    if (!text->bytes.empty() && times > limits::kTemplateOutputBytes) {
      fail_limit(meter_.line, "a text repeated " + std::to_string(count) + " times");
    }
    check_size(text->bytes.size() * times, meter_);
    TextBuilder out;
    for (uint64_t i = 0; i < times && !text->bytes.empty(); ++i) {
      out.append(*text);
    }
    return Value{finish(out, meter_)};
  }
  const List& list = *value.list();
  if (!list.items.empty() && times > limits::kTemplateSteps) {
    fail_limit(meter_.line, "a list repeated " + std::to_string(count) + " times");
  }
  meter_.spend(list.items.size() * times);
  std::vector<Value> items;
  for (uint64_t i = 0; i < times && !list.items.empty(); ++i) {
    items.insert(items.end(), list.items.begin(), list.items.end());
  }
  return make_list(std::move(items), list.kind, meter_.line);
}

namespace {

[[noreturn]] void overflow(uint32_t line) { unsupported(line, "an integer beyond 64 bits"); }

// Python rounds the quotient down and gives the remainder the divisor's sign.
int64_t floor_quotient(int64_t a, int64_t b, uint32_t line) {
  if (a == INT64_MIN && b == -1) {
    overflow(line);
  }
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

double float_remainder(double a, double b) {
  double rest = std::fmod(a, b);
  if (rest != 0) {
    return (rest < 0) != (b < 0) ? rest + b : rest;
  }
  return std::copysign(0.0, b);
}

Value integers(Op op, int64_t a, int64_t b, uint32_t line) {
  int64_t out = 0;
  switch (op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &out)) {
        overflow(line);
      }
      return Value{out};
    case Op::subtract:
      if (__builtin_sub_overflow(a, b, &out)) {
        overflow(line);
      }
      return Value{out};
    case Op::multiply:
      if (__builtin_mul_overflow(a, b, &out)) {
        overflow(line);
      }
      return Value{out};
    case Op::divide:
      return Value{static_cast<double>(a) / static_cast<double>(b)};
    case Op::floor_divide:
      return Value{floor_quotient(a, b, line)};
    default:
      return Value{b == -1 ? int64_t{0} : a - floor_quotient(a, b, line) * b};
  }
}

Value floats(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return Value{a + b};
    case Op::subtract:
      return Value{a - b};
    case Op::multiply:
      return Value{a * b};
    case Op::divide:
      return Value{a / b};
    case Op::floor_divide: {
      const double quotient = (a - float_remainder(a, b)) / b;
      return Value{std::floor(quotient + 0.5)};
    }
    default:
      return Value{float_remainder(a, b)};
  }
}

}  // namespace

Value Evaluator::arithmetic(Op op, const Value& left, const Value& right) {
  if (is_number(left) && is_number(right)) {
    const bool divides = op == Op::divide || op == Op::floor_divide || op == Op::modulo;
    if (divides && as_double(right) == 0) {
      fail(meter_.line, "division by zero");
    }
    if (is_integer(left) && is_integer(right)) {
      return integers(op, as_int(left), as_int(right), meter_.line);
    }
    return floats(op, as_double(left), as_double(right));
  }
  if (op == Op::add) {
    return add(left, right);
  }
  const auto repeats = [](const Value& value) {
    const List* list = value.list();
    return value.text() != nullptr ||
           (list != nullptr && (list->kind == ListKind::list || list->kind == ListKind::tuple));
  };
  if (op == Op::multiply && repeats(left) && is_integer(right)) {
    return repeat(left, as_int(right));
  }
  if (op == Op::multiply && repeats(right) && is_integer(left)) {
    return repeat(right, as_int(left));
  }
  if (op == Op::modulo && left.text() != nullptr) {
    unsupported(meter_.line, "formatting with '%'");
  }
  if (left.is<Undefined>() || right.is<Undefined>()) {
    need_text(left.is<Undefined>() ? left : right, "an operator", meter_);
  }
  fail(meter_.line, "no such operation between " + std::string(type_name(left)) + " and " +
                        std::string(type_name(right)));
}

}  // namespace thinkd::engine::chat
