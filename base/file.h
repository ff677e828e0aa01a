#pragma once
// Files: a read-only mapping, whole reads and atomic writes, an append-only log that can be synced.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd {

// A whole file mapped read-only; unmapped when the object goes. Movable; safe to read from any
// thread.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const uint8_t* data, uint64_t size) : data_(data), size_(size) {}
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

// The whole file; more than `limit` bytes is an error that names both numbers.
Result<std::string> read_file(const std::string& path, uint64_t limit);

// All or nothing, also across a power cut: written beside it, synced, renamed.
Status write_file(const std::string& path, std::string_view bytes);

Status make_directories(const std::string& path, uint32_t mode = 0755);

// Appends to a file; one writer. append() reaches the kernel before it returns, sync() the disk.
class AppendFile {
 public:
  static Result<AppendFile> open(const std::string& path);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;
  ~AppendFile();

  Status append(std::string_view bytes);
  Status sync();

 private:
  AppendFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_ = -1;
  std::string path_;
};

}  // namespace thinkd
