#pragma once
// Arithmetic expressions over integers, as models write them. Parsed with a stack and a depth
// limit, computed in exact rational arithmetic, never evaluated as code: the text comes from a
// model and is treated as hostile. Accepted: decimal integers, + - * /, the Unicode signs for
// times, divided by and minus, \times,
// \cdot, \div and \frac{}{}, "x" for times between operands, ( ) [ ] { }, an "= target" tail, an
// "Answer:" head. A sign in front of a number or bracket is accepted as minus.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thinkd::verifiers {

// The last line of the text that holds an expression, without "Answer:", boxes and dollar signs;
// empty where there is none.
std::string find_expression(std::string_view text);

// The value as a reduced fraction ("24", "-7/2") and the integers in the order of their use.
struct ExpressionValue {
  std::string value;
  std::vector<int64_t> numbers;
};

// invalid: not an expression, a division by zero; limit: longer or deeper than the limits.
Result<ExpressionValue> evaluate_expression(std::string_view expression);

}  // namespace thinkd::verifiers
