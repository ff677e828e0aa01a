#include "daemon/models/shipped.h"

#include <filesystem>
#include <system_error>

namespace thinkd::daemon {

std::string shipped_models_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    return "";
  }
  const std::filesystem::path beside = program.parent_path();
  for (const std::filesystem::path& above : {beside.parent_path(), beside}) {
    const std::filesystem::path folder = above / "share/thinkd/models";
    if (std::filesystem::is_directory(folder, error)) {
      return folder.string();
    }
  }
  return "";
}

}  // namespace thinkd::daemon
