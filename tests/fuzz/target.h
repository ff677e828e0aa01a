#pragma once
// A fuzz target is one function over bytes. Under libFuzzer (-DTHINKD_FUZZ=ON) the library calls
// it; in every other build replay_main.cc runs it over the corpus and fixed mutations of it. What
// it returns counts for nothing: it must end, leave memory alone, and keep what it expects.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace thinkd::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A property that held for every input so far; ends the process where it does not, in any build.
inline void expect(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
  }
}

}  // namespace thinkd::fuzz
