#pragma once
// What the store keeps of a run, and the bytes it is kept as. Values of both column families start
// with one header; a value of another magic, version or length is refused, never guessed at.
//   u32 magic | u16 version | u16 kind (1 run, 2 journal entry) | u32 length of the body | body
// Body of a run: i64 created (microseconds since 1970), u8 state, then request, result and error,
// each as u32 length + bytes. Body of a journal entry: the entry's bytes. All little-endian.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd::memory {

enum class RunState : uint8_t {
  running = 0,  // in a store that was just opened: interrupted
  done = 1,
  failed = 2,
  cancelled = 3,
};

std::string_view run_state_name(RunState state);

struct RunRecord {
  std::string run_id;      // the key; not part of the value
  int64_t created_us = 0;  // wall clock, microseconds since 1970
  RunState state = RunState::running;
  std::string request;  // JSON, everything that determines the run
  std::string result;   // JSON, empty until there is one
  std::string error;    // why it failed, empty otherwise
};

// 1 to limits::kRunIdBytes characters out of letters, digits, '.', '_', '-'.
Status check_run_id(std::string_view run_id);

std::string encode_run(const RunRecord& record);
// When the run was created, without a look at the rest.
Result<int64_t> decode_created(std::string_view run_id, std::string_view value);
Result<RunRecord> decode_run(std::string_view run_id, std::string_view value);

std::string encode_entry(std::string_view bytes);
// The view points into `value`. `key` is what an error calls it.
Result<std::string_view> decode_entry(std::string_view key, std::string_view value);

}  // namespace thinkd::memory
