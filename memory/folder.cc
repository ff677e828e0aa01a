#include "memory/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "memory/paths.h"

namespace thinkd::memory {

namespace {

constexpr mode_t kPrivate = 0700;
constexpr mode_t kOfOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kWritable = S_IWGRP | S_IWOTH;

Status failed(const std::string& what, const std::string& path) {
  return io_error("store: cannot " + what + " '" + path +
                  "': " + std::generic_category().message(errno));
}

std::string octal(mode_t mode) {
  std::string text = "0000";
  for (size_t i = 0; i < 3; ++i) {
    text[3 - i] = static_cast<char>('0' + (mode >> (3 * i) & 7));
  }
  return text;
}

Status make_private(const std::string& path) {
  return ::chmod(path.c_str(), kPrivate) == 0 ? Status() : failed("change the mode of", path);
}

// False too where it cannot be listed.
bool holds_only_a_store(const std::string& dir) {
  std::error_code error;
  std::filesystem::directory_iterator at(dir, error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
    const std::string path = dir + "/" + at->path().filename().string();
    const std::array<std::string, 4> ours = {database_dir(dir), owner_path(dir), models_dir(dir),
                                             socket_path(dir)};
    if (std::find(ours.begin(), ours.end(), path) == ours.end()) {
      return false;
    }
  }
  return !error;
}

// What is inside is only as safe as the folder: who may write to it may put something else there.
Status check_folder(const std::string& dir) {
  struct stat info{};
  if (::stat(dir.c_str(), &info) != 0) {
    return failed("look at", dir);
  }
  if (info.st_uid != ::geteuid() && ::geteuid() != 0) {
    return conflict("the store '" + dir + "' belongs to user " + std::to_string(info.st_uid) +
                    "; this process is user " + std::to_string(::geteuid()));
  }
  const mode_t mode = info.st_mode & 07777;
  if ((mode & kOfOthers) == 0) {
    return {};
  }
  if (holds_only_a_store(dir)) {
    return make_private(dir);
  }
  if ((mode & kWritable) != 0) {
    return invalid("the store '" + dir + "' has mode " + octal(mode) +
                   " and other things in it: others may write to it; name a folder of its own, or "
                   "take the right from them with chmod go-w");
  }
  return {};
}

}  // namespace

Status prepare_folder(const std::string& dir) {
  THINKD_CHECK(make_directories(dir, kPrivate).within("store"));
  THINKD_CHECK(check_folder(dir));
  const std::string database = database_dir(dir);
  THINKD_CHECK(make_directories(database, kPrivate).within("store"));
  struct stat info{};
  if (::stat(database.c_str(), &info) != 0) {
    return failed("look at", database);
  }
  return (info.st_mode & kOfOthers) == 0 ? Status() : make_private(database);
}

}  // namespace thinkd::memory
