#include "base/entropy.h"

#include <sys/random.h>

#include <span>
#include <vector>

#include "base/sha256.h"

namespace thinkd {
namespace {

// getrandom() gives less than asked when a signal comes in between.
void draw(std::span<uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    bytes = bytes.subspan(got > 0 ? static_cast<size_t>(got) : 0);
  }
}

}  // namespace

uint64_t draw_seed() {
  uint8_t bytes[8];
  draw(bytes);
  uint64_t seed = 0;
  for (const uint8_t byte : bytes) {
    seed = seed << 8 | byte;
  }
  return seed >> 11;
}

std::string draw_hex(size_t bytes) {
  std::vector<uint8_t> drawn(bytes);
  draw(drawn);
  return hex(drawn);
}

}  // namespace thinkd
