#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace thinkd {

namespace {

Status failed(std::string_view what, const std::string& path, int error) {
  const std::string text =
      "cannot " + std::string(what) + " '" + path + "': " + std::generic_category().message(error);
  return Status(error == ENOENT ? Code::not_found : Code::io, text);
}

// Owns a descriptor for the length of one function.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

Status write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) {
        continue;
      }
      return failed("write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Status();
}

// A file's name is safe on disk once the folder that holds it is.
Status sync_directory_of(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) {
    folder = ".";
  }
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0 || ::fsync(directory.get()) != 0) {
    return failed("sync", folder.string(), errno);
  }
  return Status();
}

Result<struct stat> regular_file(int descriptor, const std::string& path) {
  struct stat info{};
  if (::fstat(descriptor, &info) != 0) {
    return failed("stat", path, errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return invalid("'" + path + "' is not a regular file");
  }
  return info;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  // A pipe without a writer would hold up a blocking open for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    return failed("open", path, errno);
  }
  const Result<struct stat> info = regular_file(file.get(), path);
  if (!info) {
    return info.status();
  }
  const auto size = static_cast<uint64_t>(info->st_size);
  if (size == 0) {
    return MappedFile(nullptr, 0);
  }
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) {
    return failed("map", path, errno);
  }
  return MappedFile(static_cast<const uint8_t*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<uint8_t*>(data_), size_);
  }
}

Result<std::string> read_file(const std::string& path, uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) {
    return failed("open", path, errno);
  }
  const auto too_long = [&](const std::string& size) {
    return over_limit("'" + path + "' has " + size + " bytes; at most " + std::to_string(limit) +
                      " are read");
  };
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) {
    return failed("stat", path, errno);
  }
  if (S_ISREG(info.st_mode) && static_cast<uint64_t>(info.st_size) > limit) {
    return too_long(std::to_string(info.st_size));
  }
  // Read to the end, whatever the size said: pipes have none, and files may grow.
  std::string text;
  for (;;) {
    constexpr uint64_t kChunk = 64 << 10;
    const uint64_t before = text.size();
    text.resize(before + std::min(kChunk, limit - before + 1));
    const ssize_t got = ::read(file.get(), text.data() + before, text.size() - before);
    text.resize(before + static_cast<uint64_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) {
      return failed("read", path, errno);
    }
    if (got == 0) {
      return text;
    }
    if (text.size() > limit) {
      return too_long("more than " + std::to_string(limit));
    }
  }
}

Status write_file(const std::string& path, std::string_view bytes) {
  // Threads never share an id, so two writers never share a file; a leftover is overwritten.
  const std::string temporary = path + ".tmp" + std::to_string(::gettid());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  const Descriptor file(::open(temporary.c_str(), kFlags, 0666));
  if (file.get() < 0) {
    return failed("create", temporary, errno);
  }
  Status status = write_all(file.get(), bytes, temporary);
  if (status.ok() && ::fsync(file.get()) != 0) {
    status = failed("sync", temporary, errno);
  }
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    status = failed("rename to", path, errno);
  }
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync_directory_of(path);
}

Status make_directories(const std::string& path, uint32_t mode) {
  std::filesystem::path so_far;
  for (const std::filesystem::path& part : std::filesystem::path(path)) {
    so_far /= part;
    if (::mkdir(so_far.c_str(), mode) != 0) {
      const int error = errno;
      std::error_code ignored;
      if (!std::filesystem::is_directory(so_far, ignored)) {
        return failed("make the folder", so_far.string(), error);
      }
    }
  }
  return Status();
}

Result<AppendFile> AppendFile::open(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file.get() < 0) {
    return failed("open", path, errno);
  }
  THINKD_CHECK(sync_directory_of(path));
  return AppendFile(file.release(), path);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

AppendFile& AppendFile::operator=(AppendFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

Status AppendFile::append(std::string_view bytes) { return write_all(descriptor_, bytes, path_); }

Status AppendFile::sync() {
  return ::fdatasync(descriptor_) == 0 ? Status() : failed("sync", path_, errno);
}

}  // namespace thinkd
