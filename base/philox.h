#pragma once
// Philox4x32-10, a counter-based random number generator: the i-th number of a key is a pure
// function of (key, i), so draws do not depend on the order in which branches run.
// Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

#include <array>
#include <cstdint>
#include <string_view>

namespace thinkd {

using PhiloxKey = std::array<uint32_t, 2>;
using PhiloxCounter = std::array<uint32_t, 4>;

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key);

// The key of a stream of draws: the first 8 bytes of SHA-256 over (seed as u64, then stream and
// path each as u32 length + bytes, then epoch as u32), all little-endian.
PhiloxKey draw_key(uint64_t seed, std::string_view stream, std::string_view path, uint32_t epoch);

// The index-th uniform of a key, in [0, 1): 53 bits of the first two words.
double uniform(PhiloxKey key, uint64_t index);

}  // namespace thinkd
