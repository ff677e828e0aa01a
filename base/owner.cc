#include "base/owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace thinkd {

Result<Owner> Owner::claim(const std::string& path, const std::string& what, uint32_t mode) {
  const auto failed = [&](const std::string& doing) {
    return io_error("cannot " + doing + " '" + path +
                    "': " + std::generic_category().message(errno));
  };
  // A link could lead to a file of somebody else's, which would be emptied.
  constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  Owner owner(::open(path.c_str(), kFlags, mode));
  if (owner.descriptor_ < 0) {
    return errno == ELOOP ? invalid("'" + path + "' is a symbolic link; it must be a file")
                          : failed("open");
  }
  struct stat info{};
  if (::fstat(owner.descriptor_, &info) != 0 || !S_ISREG(info.st_mode)) {
    return invalid("'" + path + "' is not a regular file");
  }
  if (::flock(owner.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return failed("lock");
    }
    std::array<char, 32> text{};
    const ssize_t got = ::pread(owner.descriptor_, text.data(), text.size(), 0);
    const std::string_view pid =
        trim(std::string_view(text.data(), static_cast<size_t>(std::max<ssize_t>(got, 0))));
    return conflict(what + " is held by " +
                    (parse_uint(pid) ? "process " + std::string(pid) : "another process"));
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(owner.descriptor_, 0) != 0 ||
      ::pwrite(owner.descriptor_, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return failed("write");
  }
  return owner;
}

Owner::Owner(Owner&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Owner::~Owner() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

}  // namespace thinkd
