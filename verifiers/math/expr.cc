#include "verifiers/math/expr.h"

#include <algorithm>
#include <utility>

namespace thinkd::verifiers::math {

bool Expr::has_variables() const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const Node& node) { return node.op == Op::variable; });
}

Expr combine(const Expr& left, Op op, const Expr& right) {
  Expr result = left;
  const int shift = static_cast<int>(left.nodes.size());
  for (Node node : right.nodes) {
    node.a += node.a >= 0 ? shift : 0;
    node.b += node.b >= 0 ? shift : 0;
    result.nodes.push_back(std::move(node));
  }
  result.root = result.add({op, left.root, right.root + shift});
  return result;
}

Expr constant(std::string digits) {
  Expr result;
  result.root = result.add({Op::number, -1, -1, std::move(digits)});
  return result;
}

}  // namespace thinkd::verifiers::math
