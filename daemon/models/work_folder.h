#pragma once
// A folder for one pull, on the disk that the model goes to: DIR/.pull-XXXXXX, locked while its
// process lives and removed with the object. What a process that died left is removed by the next
// pull beside it.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd::daemon {

class WorkFolder {
 public:
  static Result<WorkFolder> make(const std::string& beside);  // in the folder of this path
  WorkFolder(WorkFolder&& other) noexcept;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  uint64_t bytes() const;  // of all files in it, by what the folder says at this moment

 private:
  WorkFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_ = -1;  // the folder's descriptor
};

}  // namespace thinkd::daemon
