#include "base/philox.h"

#include "base/sha256.h"

namespace thinkd {

namespace {

constexpr uint64_t kMultiplier0 = 0xD2511F53;
constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t product0 = kMultiplier0 * counter[0];
    const uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

PhiloxKey draw_key(uint64_t seed, std::string_view stream, std::string_view path, uint32_t epoch) {
  const Sha256Digest digest =
      Sha256().add_u64(seed).add_text(stream).add_text(path).add_u32(epoch).digest();
  PhiloxKey key{};
  for (size_t i = 0; i < 8; ++i) {
    key[i / 4] |= static_cast<uint32_t>(digest[i]) << (8 * (i % 4));
  }
  return key;
}

double uniform(PhiloxKey key, uint64_t index) {
  const PhiloxCounter words =
      philox4x32_10({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}, key);
  const uint64_t bits = (static_cast<uint64_t>(words[1]) << 32) | words[0];
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace thinkd
