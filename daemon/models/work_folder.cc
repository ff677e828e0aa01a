#include "daemon/models/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace thinkd::daemon {
namespace {

constexpr std::string_view kPrefix = ".pull-";
constexpr int kTries = 16;

// The folder's descriptor with its lock, -1 where another process has it or it is no folder.
int lock_folder(const std::string& path) {
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && ::flock(folder, LOCK_EX | LOCK_NB) != 0) {
    ::close(folder);
    return -1;
  }
  return folder;
}

void remove_folder(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

// Whoever may lock such a folder may remove it: its process is gone.
void remove_left_ones(const std::filesystem::path& parent) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator at(parent, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    if (at->path().filename().string().starts_with(kPrefix)) {
      found.push_back(at->path().string());
    }
  }
  for (const std::string& path : found) {
    if (const int lock = lock_folder(path); lock >= 0) {
      remove_folder(path);
      ::close(lock);
    }
  }
}

}  // namespace

Result<WorkFolder> WorkFolder::make(const std::string& beside) {
  const std::filesystem::path parent = std::filesystem::path(beside).parent_path();
  remove_left_ones(parent);
  const std::string pattern = (parent / (std::string(kPrefix) + "XXXXXX")).string();
  for (int tries = 0; tries < kTries; ++tries) {
    std::string path = pattern;
    if (::mkdtemp(path.data()) == nullptr) {
      return io_error("cannot make the folder '" + pattern +
                      "': " + std::generic_category().message(errno));
    }
    const int lock = lock_folder(path);
    if (lock >= 0 && ::access(path.c_str(), F_OK) == 0) {
      return WorkFolder(std::move(path), lock);
    }
    // Another pull took it for a left one before it was locked.
    if (lock >= 0) {
      ::close(lock);
    }
  }
  return io_error("cannot lock a folder '" + pattern + "'");
}

WorkFolder::WorkFolder(WorkFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::exchange(other.lock_, -1)) {}

WorkFolder::~WorkFolder() {
  if (lock_ >= 0) {
    remove_folder(path_);
    ::close(lock_);
  }
}

uint64_t WorkFolder::bytes() const {
  uint64_t total = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator at(path_, error);
  while (!error && at != std::filesystem::recursive_directory_iterator()) {
    std::error_code gone;  // pip moves its files about
    const auto size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    total += gone ? 0 : size;
    at.increment(error);
  }
  return total;
}

}  // namespace thinkd::daemon
