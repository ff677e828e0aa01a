#include "verifiers/math/compare.h"

#include <algorithm>

#include "verifiers/math/evaluate.h"

namespace thinkd::verifiers::math {
namespace {

bool in_order(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_value);
}

// Each item of a has its own partner in b.
bool in_any_order(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  std::vector<bool> taken(b.size());
  for (const Value& item : a) {
    size_t partner = 0;
    while (partner < b.size() && (taken[partner] || !same_value(item, b[partner]))) {
      ++partner;
    }
    if (partner == b.size()) {
      return false;
    }
    taken[partner] = true;
  }
  return true;
}

bool same_expression(const Value& a, const Value& b) {
  if (same(a.expr, b.expr) == Same::yes) {
    return true;
  }
  if (a.percent == b.percent) {
    return false;
  }
  const Expr& percent = a.percent ? a.expr : b.expr;
  const Expr& plain = a.percent ? b.expr : a.expr;
  return same(combine(percent, Op::divide, constant("100")), plain) == Same::yes;
}

bool same_ratio(const Value& a, const Value& b) {
  if (a.items.size() != b.items.size()) {
    return false;
  }
  if (a.clock && b.clock) {
    return a.text == b.text;
  }
  for (const Value* side : {&a, &b}) {
    for (const Value& item : side->items) {
      if (item.shape != Shape::expression) {
        return false;
      }
    }
  }
  for (size_t i = 1; i < a.items.size(); ++i) {
    const Expr left = combine(a.items[0].expr, Op::multiply, b.items[i].expr);
    const Expr right = combine(b.items[0].expr, Op::multiply, a.items[i].expr);
    if (same(left, right) != Same::yes) {
      return false;
    }
  }
  return true;
}

bool same_equation(const Value& a, const Value& b) {
  if (!a.text.empty() && a.text == b.text && same_value(a.items[0], b.items[0])) {
    return true;
  }
  return a.expr.root >= 0 && b.expr.root >= 0 && a.expr.has_variables() &&
         proportional(a.expr, b.expr, false) == Same::yes;
}

}  // namespace

bool same_value(const Value& a, const Value& b) {
  if (a.shape != b.shape) {
    // "x = 5" answers "5".
    const Value* named = a.shape == Shape::equation   ? &a
                         : b.shape == Shape::equation ? &b
                                                      : nullptr;
    return named != nullptr && !named->text.empty() &&
           same_value(named->items[0], named == &a ? b : a);
  }
  switch (a.shape) {
    case Shape::invalid:
      return false;
    case Shape::text:
    case Shape::infinity:
    case Shape::based:
      return a.text == b.text;
    case Shape::expression:
      return same_expression(a, b);
    case Shape::list:
    case Shape::set:
    case Shape::join:
      return in_any_order(a.items, b.items);
    case Shape::bracketed:
      return a.text == b.text && in_order(a.items, b.items);
    case Shape::matrix:
      return in_order(a.items, b.items);
    case Shape::equation:
      return same_equation(a, b);
    case Shape::inequality:
      return a.text == b.text && proportional(a.expr, b.expr, a.text != "!=") == Same::yes;
    case Shape::ratio:
      return same_ratio(a, b);
  }
  return false;
}

}  // namespace thinkd::verifiers::math
