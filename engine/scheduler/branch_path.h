#pragma once
// Where a branch stands in its query's tree: root index, then fork indices ("0.3.1"). Paths order
// what happens at one tick of the logical clock and key the branch's random numbers.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace thinkd::engine {

struct BranchPath {
  std::vector<uint32_t> indices;
  auto operator<=>(const BranchPath&) const = default;
};

inline std::string to_string(const BranchPath& path) {
  std::string text;
  for (uint32_t index : path.indices) {
    if (!text.empty()) {
      text += '.';
    }
    text += std::to_string(index);
  }
  return text;
}

}  // namespace thinkd::engine
