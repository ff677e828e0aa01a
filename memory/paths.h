#pragma once
// Where a store lies and what lies in it. DIR is the store's folder (mode 0700):
//   DIR/db           the RocksDB database
//   DIR/owner.pid    the process that holds the store, locked while it lives
//   DIR/models       pulled models, plain files
//   DIR/thinkd.sock  the daemon's Unix socket, there while it serves

#include <string>

#include "base/status.h"

namespace thinkd::memory {

// $XDG_STATE_HOME/thinkd, else $HOME/.local/state/thinkd; unavailable where neither is set to an
// absolute path.
Result<std::string> default_store_dir();

std::string database_dir(const std::string& store_dir);
std::string owner_path(const std::string& store_dir);
std::string models_dir(const std::string& store_dir);
std::string socket_path(const std::string& store_dir);

}  // namespace thinkd::memory
