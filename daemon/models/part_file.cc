#include "daemon/models/part_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace thinkd::daemon {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr int kOpenTries = 16;

Status failed(std::string_view what, const std::string& path) {
  return io_error("cannot " + std::string(what) + " '" + path +
                  "': " + std::generic_category().message(errno));
}

// A name on disk is safe only once its folder is.
Status sync_folder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int descriptor =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return failed("open", folder);
  }
  const bool synced = ::fsync(descriptor) == 0;
  const Status status = synced ? Status() : failed("sync", folder);
  ::close(descriptor);
  return status;
}

// Another process may have finished the file between our open and our lock: then what we locked is
// the whole file under its own name, or a removed one.
bool is_at(int descriptor, const std::string& path) {
  struct stat held{};
  struct stat named{};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

Result<PartFile> PartFile::open(const std::string& path, bool keep) {
  const std::string part = path + ".part";
  for (int tries = 0; tries < kOpenTries; ++tries) {
    const int descriptor = ::open(part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      return failed("open", part);
    }
    PartFile file(descriptor, path);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      break;
    }
    if (is_at(descriptor, part)) {
      THINKD_CHECK(keep ? file.take_up() : file.restart());
      return file;
    }
  }
  return conflict("'" + part + "' is being written by another process");
}

PartFile::PartFile(PartFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      bytes_(other.bytes_),
      hash_(std::move(other.hash_)) {}

PartFile::~PartFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status PartFile::take_up() {
  std::vector<uint8_t> piece(kPieceBytes);
  while (true) {
    const ssize_t size = ::read(descriptor_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return failed("read", part());
    }
    if (size == 0) {
      return {};
    }
    hash_->add(std::span(piece).first(static_cast<size_t>(size)));
    bytes_ += static_cast<uint64_t>(size);
  }
}

Status PartFile::restart() {
  if (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0) {
    return failed("empty", part());
  }
  bytes_ = 0;
  hash_ = std::make_unique<Sha256>();
  return {};
}

Status PartFile::add(std::span<const uint8_t> bytes) {
  hash_->add(bytes);
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t size = ::write(descriptor_, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return failed("write", part());
    }
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return {};
}

Result<std::string> PartFile::finish(uint64_t size, std::string_view sha256) {
  if (size != 0 && bytes_ != size) {
    const uint64_t had = bytes_;
    if (had > size) {
      remove();
    }
    return corrupt("'" + path_ + "': " + std::to_string(had) + " bytes came, it should have " +
                   std::to_string(size));
  }
  std::string hash = hex(hash_->digest());
  if (!sha256.empty() && hash != sha256) {
    remove();
    return corrupt("'" + path_ + "': SHA-256 is " + hash + ", it should be " + std::string(sha256));
  }
  if (::fsync(descriptor_) != 0) {
    return failed("sync", part());
  }
  if (std::rename(part().c_str(), path_.c_str()) != 0) {
    return failed("rename", part());
  }
  THINKD_CHECK(sync_folder(path_));
  return hash;
}

void PartFile::remove() { ::unlink(part().c_str()); }

}  // namespace thinkd::daemon
