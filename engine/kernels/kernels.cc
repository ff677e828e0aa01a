#include "engine/kernels/kernels.h"

#include <string>

namespace thinkd::engine {

#if defined(__x86_64__)
const Kernels&
avx2_table();  // kernels_avx2.cc; that file is compiled for AVX2, so the question is asked here

const Kernels* avx2_kernels() {
  const bool found = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                     __builtin_cpu_supports("f16c");
  return found ? &avx2_table() : nullptr;
}
#else
const Kernels* avx2_kernels() { return nullptr; }
#endif

Result<const Kernels*> find_kernels(std::string_view isa) {
  const Kernels* avx2 = avx2_kernels();
  if (isa.empty() || isa == "auto") {
    return avx2 != nullptr ? avx2 : &portable_kernels();
  }
  if (isa == "portable") {
    return &portable_kernels();
  }
  if (isa == "avx2") {
    if (avx2 == nullptr) {
      return unavailable("isa avx2: this machine lacks one of AVX2, FMA, F16C");
    }
    return avx2;
  }
  return invalid("isa \"" + std::string(isa) + "\" is not known (auto, avx2, portable)");
}

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> found = {&portable_kernels()};
  if (const Kernels* avx2 = avx2_kernels()) {
    found.push_back(avx2);
  }
  return found;
}

}  // namespace thinkd::engine
