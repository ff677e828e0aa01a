#include "base/entropy.h"

#include <cstdint>
#include <set>
#include <string>

#include "tests/support/catch.h"

using namespace thinkd;

TEST_CASE("drawn seeds and identifiers are whole, and differ") {
  std::set<uint64_t> seeds;
  std::set<std::string> ids;
  uint64_t united = 0;
  for (int i = 0; i < 256; ++i) {
    const uint64_t seed = draw_seed();
    CHECK(seed < uint64_t{1} << 53);
    united |= seed;
    seeds.insert(seed);
    const std::string id = draw_hex(16);
    CHECK(id.size() == 32);
    CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
    ids.insert(id);
  }
  CHECK(seeds.size() == 256);
  CHECK(ids.size() == 256);
  CHECK(united == (uint64_t{1} << 53) - 1);  // every bit is drawn
  CHECK(draw_hex(0).empty());
}
