#pragma once
// The right of one process to a folder: a lock on a file that ends with the process, however it
// ends, and inside the file the pid, for those who are refused. Movable; the object is the right.

#include <cstdint>
#include <string>

#include "base/status.h"

namespace thinkd {

class Owner {
 public:
  // `path` is made where it is missing. conflict: "`what` is held by process PID"; invalid:
  // it is no regular file, or a link to one; io.
  static Result<Owner> claim(const std::string& path, const std::string& what,
                             uint32_t mode = 0600);
  Owner(Owner&& other) noexcept;
  Owner& operator=(Owner&&) = delete;
  ~Owner();

 private:
  explicit Owner(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace thinkd
