#pragma once
// The header of a GGUF file to a GgufFile: keys, tensors, and where each tensor's bytes lie. What a
// count promises is held against the bytes that are left before anything is stored for it. Errors
// name the key or tensor.

#include "base/status.h"

namespace thinkd::engine {

class GgufFile;

class GgufParser {
 public:
  static Status parse(GgufFile& file);  // whose bytes are mapped

 private:
  class Reading;
};

}  // namespace thinkd::engine
