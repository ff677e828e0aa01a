#include "base/philox.h"

#include <cmath>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"
#include "tests/support/catch.h"

namespace thinkd {

// The known answers that the authors publish beside the paper (kat_vectors, philox4x32 10 rounds).
TEST_CASE("philox4x32-10 gives the published words") {
  CHECK(philox4x32_10({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr uint32_t kOnes = 0xffffffff;
  CHECK(philox4x32_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a uniform is 53 bits of the first two words") {
  CHECK(uniform({0, 0}, 0) == std::ldexp(static_cast<double>(0xe169c58d6627e8d5ull >> 11), -53));
  const PhiloxCounter high = philox4x32_10({5, 7, 0, 0}, {1, 2});
  const uint64_t bits = (static_cast<uint64_t>(high[1]) << 32) | high[0];
  CHECK(uniform({1, 2}, (7ull << 32) | 5) == std::ldexp(static_cast<double>(bits >> 11), -53));
}

TEST_CASE("uniforms lie in [0, 1) and fill it evenly") {
  constexpr int kDraws = 64'000;
  constexpr int kBins = 64;
  const PhiloxKey key = draw_key(1, "p", "0", 0);
  std::vector<int> bins(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double u = uniform(key, i);
    REQUIRE(u >= 0.0);
    REQUIRE(u < 1.0);
    ++bins[static_cast<size_t>(u * kBins)];
  }
  double chi2 = 0;
  for (const int count : bins) {
    chi2 += (count - 1000.0) * (count - 1000.0) / 1000.0;
  }
  CHECK(chi2 > 30.0);  // 63 degrees of freedom: about 1e-4 on either side
  CHECK(chi2 < 115.0);
}

TEST_CASE("a draw key hashes the written layout") {
  ByteWriter message;
  message.write(uint64_t{0x0123456789abcdef}).sized_text("gsm8k/7#2").sized_text("0.3.1");
  message.write(uint32_t{4});
  const Sha256Digest digest = sha256(message.bytes());
  ByteReader first(digest);
  const auto low = first.read<uint32_t>();
  const auto high = first.read<uint32_t>();
  CHECK(draw_key(0x0123456789abcdef, "gsm8k/7#2", "0.3.1", 4) == PhiloxKey{low, high});
}

TEST_CASE("every part of a draw key counts") {
  const std::set<PhiloxKey> keys = {draw_key(1, "s", "0", 0), draw_key(2, "s", "0", 0),
                                    draw_key(1, "t", "0", 0), draw_key(1, "s", "1", 0),
                                    draw_key(1, "s", "0", 1), draw_key(1, "s0", "", 0)};
  CHECK(keys.size() == 6);
}

}  // namespace thinkd
