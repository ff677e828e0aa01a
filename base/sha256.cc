#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>
#include <cassert>

#include "base/file.h"

namespace thinkd {

struct Sha256::Context {
  EVP_MD_CTX* evp = nullptr;
  bool good = false;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  context_->evp = EVP_MD_CTX_new();
  context_->good =
      context_->evp != nullptr && EVP_DigestInit_ex(context_->evp, EVP_sha256(), nullptr) == 1;
  assert(context_->good);
}

Sha256::~Sha256() { EVP_MD_CTX_free(context_->evp); }

Sha256& Sha256::add(std::span<const uint8_t> bytes) {
  context_->good =
      context_->good && EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1;
  return *this;
}

Sha256& Sha256::add(std::string_view text) {
  return add(std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

Sha256& Sha256::add_u32(uint32_t value) {
  std::array<uint8_t, 4> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  }
  return add(bytes);
}

Sha256& Sha256::add_u64(uint64_t value) {
  return add_u32(static_cast<uint32_t>(value)).add_u32(static_cast<uint32_t>(value >> 32));
}

Sha256& Sha256::add_text(std::string_view text) {
  return add_u32(static_cast<uint32_t>(text.size())).add(text);
}

Sha256Digest Sha256::digest() {
  Sha256Digest out{};
  unsigned int size = 0;
  context_->good =
      context_->good && EVP_DigestFinal_ex(context_->evp, out.data(), &size) == 1 && size == 32;
  // libcrypto's SHA-256 fails only where the library itself is broken: nothing to report to a user.
  assert(context_->good);
  return out;
}

Sha256Digest sha256(std::string_view text) { return Sha256().add(text).digest(); }

Result<Sha256Digest> sha256_file(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) {
    return file.status();
  }
  return Sha256().add(file->bytes()).digest();
}

std::string hex(std::span<const uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const uint8_t byte : bytes) {
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace thinkd
