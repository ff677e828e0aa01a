#include "memory/paths.h"

#include <cstdlib>

namespace thinkd::memory {

namespace {

// The XDG specification has relative paths ignored.
std::string absolute_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? std::string(value) : std::string();
}

}  // namespace

Result<std::string> default_store_dir() {
  if (const std::string state = absolute_variable("XDG_STATE_HOME"); !state.empty()) {
    return state + "/thinkd";
  }
  if (const std::string home = absolute_variable("HOME"); !home.empty()) {
    return home + "/.local/state/thinkd";
  }
  return unavailable(
      "no folder for the store: neither XDG_STATE_HOME nor HOME is an absolute path; "
      "name one with --store DIR");
}

std::string database_dir(const std::string& store_dir) { return store_dir + "/db"; }
std::string owner_path(const std::string& store_dir) { return store_dir + "/owner.pid"; }
std::string models_dir(const std::string& store_dir) { return store_dir + "/models"; }
std::string socket_path(const std::string& store_dir) { return store_dir + "/thinkd.sock"; }

}  // namespace thinkd::memory
