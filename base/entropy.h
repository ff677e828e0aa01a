#pragma once
// Randomness of the system, for seeds and identifiers that nobody chose. Everything else draws
// from base/philox.h, so that a seed gives the same bytes. Any thread.

#include <cstddef>
#include <cstdint>
#include <string>

namespace thinkd {

uint64_t draw_seed();                // 53 bits: every JSON reader keeps it exactly
std::string draw_hex(size_t bytes);  // that many bytes, two hex digits each

}  // namespace thinkd
