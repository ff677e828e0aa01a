#include "verifiers/number.h"

#include "base/limits.h"
#include "verifiers/math/evaluate.h"
#include "verifiers/math/value.h"

namespace thinkd::verifiers {
namespace {

math::Expr written(const Number& number, bool as_fraction) {
  const size_t slash = number.canonical.find('/');
  const bool negative = number.canonical.starts_with('-');
  const std::string above = number.canonical.substr(negative ? 1 : 0, slash - (negative ? 1 : 0));
  math::Expr result = math::constant(above);
  if (negative) {
    result = math::combine(math::constant("0"), math::Op::subtract, result);
  }
  if (slash != std::string::npos) {
    result =
        math::combine(result, math::Op::divide, math::constant(number.canonical.substr(slash + 1)));
  }
  return as_fraction ? math::combine(result, math::Op::divide, math::constant("100")) : result;
}

}  // namespace

bool Number::matches(const Number& other) const {
  if (canonical == other.canonical) {
    return true;
  }
  return percent != other.percent &&
         math::same(written(*this, percent), written(other, other.percent)) == math::Same::yes;
}

std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > limits::kAnswerBytes) {
    return std::nullopt;
  }
  const math::Value value = math::parse_value(text, {});
  const math::Value* core =
      value.shape == math::Shape::equation && !value.text.empty() ? &value.items[0] : &value;
  if (core->shape != math::Shape::expression) {
    return std::nullopt;
  }
  std::optional<std::string> exact = math::exact_value(core->expr);
  if (!exact) {
    return std::nullopt;
  }
  return Number{std::move(*exact), core->percent};
}

}  // namespace thinkd::verifiers
