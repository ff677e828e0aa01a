#pragma once
// An expression as a tree: nodes lie in one array and refer by index to earlier ones. Plain values.

#include <cstdint>
#include <string>
#include <vector>

namespace thinkd::verifiers::math {

enum class Op : uint8_t {
  number,
  variable,
  pi,
  euler,
  imaginary,
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,
  root,      // b-th root of a; b is -1 for the square root
  function,  // name(a), base b for log
  factorial,
  binomial,
  absolute,
};

struct Node {
  Op op;
  int a = -1;
  int b = -1;
  std::string name = {};  // digits, variable or function
};

struct Expr {
  std::vector<Node> nodes;
  int root = -1;

  bool has_variables() const;
  int add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<int>(nodes.size()) - 1;
  }
};

// op applied to two expressions, as a new one.
Expr combine(const Expr& left, Op op, const Expr& right);
Expr constant(std::string digits);

}  // namespace thinkd::verifiers::math
