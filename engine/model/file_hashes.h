#pragma once
// SHA-256 of model files, remembered by absolute path, size and modification time, so that a model
// of gigabytes is hashed once and not at every start. The memory is a JSON file:
//
//   { "/models/a.gguf": { "bytes": 98362432, "mtime_ns": 1738911720000000000, "sha256": "b179..." }
//   }
//
// It is a cache: what is missing, unreadable or damaged is computed again, and a write that fails
// is let go. A file changed within the last two seconds is not remembered, since another change
// could leave its time as it is. Two processes may use one memory; the later write wins.

#include <string>

#include "base/status.h"

namespace thinkd::engine {

class FileHashes {
 public:
  // An empty path remembers nothing.
  explicit FileHashes(std::string memory_path) : memory_path_(std::move(memory_path)) {}

  // $XDG_CACHE_HOME/thinkd/sha256.json, else ~/.cache/thinkd/sha256.json, else "".
  static std::string user_memory();

  // In hex. Errors: those of reading the file.
  Result<std::string> sha256(const std::string& path) const;

 private:
  std::string memory_path_;
};

}  // namespace thinkd::engine
