#pragma once
// Whether two parsed answers are the same, shape by shape.

#include "verifiers/math/value.h"

namespace thinkd::verifiers::math {

bool same_value(const Value& a, const Value& b);

}  // namespace thinkd::verifiers::math
