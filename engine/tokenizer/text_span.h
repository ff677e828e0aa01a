#pragma once
// A half-open range of bytes in a text. Whoever renders a prompt marks with it the bytes that a
// user wrote, so that no control token is ever read out of them.

#include <cstdint>

namespace thinkd::engine {

struct TextSpan {
  uint64_t begin = 0;
  uint64_t end = 0;  // one past the last byte

  bool operator==(const TextSpan&) const = default;
};

}  // namespace thinkd::engine
