#pragma once
// A model file while it arrives: bytes go to PATH.part, which is hashed as it grows; finish()
// checks it, syncs it and renames it to PATH, so that PATH is always whole. What an earlier try
// left can be kept and gone on from. One writer.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/sha256.h"
#include "base/status.h"

namespace thinkd::daemon {

class PartFile {
 public:
  // keep: go on after what PATH.part holds (its bytes are hashed first); else begin anew. Errors:
  // io, conflict (another process is writing it).
  static Result<PartFile> open(const std::string& path, bool keep);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();  // leaves PATH.part where it is

  uint64_t bytes() const { return bytes_; }
  Status restart();  // back to nothing
  Status add(std::span<const uint8_t> bytes);
  // `sha256` in hex and `size` may be empty and 0: then unknown. On a mismatch, which names both,
  // the part is removed. Gives the hash.
  Result<std::string> finish(uint64_t size, std::string_view sha256);
  void remove();

 private:
  PartFile(int descriptor, std::string path)
      : descriptor_(descriptor), path_(std::move(path)), hash_(std::make_unique<Sha256>()) {}
  Status take_up();
  std::string part() const { return path_ + ".part"; }

  int descriptor_ = -1;
  std::string path_;
  uint64_t bytes_ = 0;
  std::unique_ptr<Sha256> hash_;
};

}  // namespace thinkd::daemon
