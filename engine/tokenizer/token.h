#pragma once
// A token is an index into a model's vocabulary.

#include <cstdint>

namespace thinkd::engine {

using Token = uint32_t;

}  // namespace thinkd::engine
