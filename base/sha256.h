#pragma once
// SHA-256 (FIPS 180-4), by libcrypto. One object hashes one message; it is not shared by threads.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& add(std::span<const uint8_t> bytes);
  Sha256& add(std::string_view text);
  Sha256& add_u32(uint32_t value);          // little-endian
  Sha256& add_u64(uint64_t value);          // little-endian
  Sha256& add_text(std::string_view text);  // u32 length, then the bytes: unambiguous in a sequence
  Sha256Digest digest();                    // once; the object is spent afterwards

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

Sha256Digest sha256(std::string_view text);
Result<Sha256Digest> sha256_file(const std::string& path);
std::string hex(std::span<const uint8_t> bytes);

}  // namespace thinkd
