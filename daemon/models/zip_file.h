#pragma once
// Reads members of a zip archive (a Python wheel is one): stored or deflated, not encrypted,
// without the 64-bit extensions, so archives and members below 4 GiB. The directory at the end of
// the file is the truth; every offset and length in it is held against the file before use. Format:
// PKWARE APPNOTE.TXT 6.3; deflate: RFC 1951, by zlib.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "base/file.h"
#include "base/status.h"

namespace thinkd::daemon {

// Takes the bytes of a file piece by piece; an error of it ends the work that feeds it.
using ByteSink = std::function<Status(std::span<const uint8_t>)>;

class ZipFile {
 public:
  static Result<ZipFile> open(const std::string& path);

  // The whole member, checked against its length and CRC-32. Errors: not_found (naming it),
  // corrupt, unavailable (a compression that is not known), and the sink's.
  Status extract(const std::string& member, const ByteSink& sink) const;

 private:
  struct Member {
    uint16_t method = 0;
    uint32_t crc = 0;
    uint64_t packed_bytes = 0;
    uint64_t bytes = 0;
    uint64_t header = 0;  // offset of its local header
  };

  ZipFile(MappedFile file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  Status read_directory();
  Result<std::span<const uint8_t>> packed(const Member& member) const;

  MappedFile file_;
  std::string path_;
  std::map<std::string, Member> members_;
};

}  // namespace thinkd::daemon
