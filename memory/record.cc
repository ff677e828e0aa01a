#include "memory/record.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/text.h"

namespace thinkd::memory {

namespace {

constexpr uint32_t kMagic = 0x646B6874;  // "thkd"
constexpr uint16_t kVersion = 1;

enum class Kind : uint16_t { run = 1, entry = 2 };

std::string with_header(Kind kind, std::string_view body) {
  ByteWriter writer;
  writer.write(kMagic).write(kVersion).write(static_cast<uint16_t>(kind)).sized_text(body);
  return writer.take();
}

Status damaged(std::string_view key, const std::string& why) {
  return corrupt("store: the value of '" + escape_controls(key) + "' " + why);
}

Result<std::string_view> body_of(Kind kind, std::string_view key, std::string_view value) {
  ByteReader reader(value);
  const auto magic = reader.read<uint32_t>();
  const auto version = reader.read<uint16_t>();
  const auto found = reader.read<uint16_t>();
  if (reader.failed() || magic != kMagic) {
    return damaged(key, "is not one of thinkd's");
  }
  if (version != kVersion) {
    return damaged(key, "has version " + std::to_string(version) + "; this build reads version " +
                            std::to_string(kVersion));
  }
  const std::string_view body = reader.sized_text();
  if (found != static_cast<uint16_t>(kind) || !reader.done()) {
    return damaged(key, "is damaged: kind or length do not fit");
  }
  return body;
}

bool is_run_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

std::string_view run_state_name(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::done:
      return "done";
    case RunState::failed:
      return "failed";
    case RunState::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Status check_run_id(std::string_view run_id) {
  if (run_id.empty() || run_id.size() > limits::kRunIdBytes) {
    return invalid("run_id has " + std::to_string(run_id.size()) + " characters; 1 to " +
                   std::to_string(limits::kRunIdBytes) + " are allowed");
  }
  if (!std::all_of(run_id.begin(), run_id.end(), is_run_id_character)) {
    return invalid("run_id '" + escape_controls(repair_utf8(run_id)) +
                   "' may only have letters, digits, '.', '_' and '-'");
  }
  return Status();
}

std::string encode_run(const RunRecord& record) {
  ByteWriter body;
  body.write(record.created_us).write(record.state);
  body.sized_text(record.request).sized_text(record.result).sized_text(record.error);
  return with_header(Kind::run, body.bytes());
}

Result<int64_t> decode_created(std::string_view run_id, std::string_view value) {
  const Result<std::string_view> body = body_of(Kind::run, run_id, value);
  if (!body) {
    return body.status();
  }
  ByteReader reader(*body);
  const auto created_us = reader.read<int64_t>();
  return reader.failed() ? Result<int64_t>(damaged(run_id, "is damaged: its fields do not fit"))
                         : Result<int64_t>(created_us);
}

Result<RunRecord> decode_run(std::string_view run_id, std::string_view value) {
  const Result<std::string_view> body = body_of(Kind::run, run_id, value);
  if (!body) {
    return body.status();
  }
  ByteReader reader(*body);
  RunRecord record;
  record.run_id = run_id;
  record.created_us = reader.read<int64_t>();
  const auto state = reader.read<uint8_t>();
  record.request = reader.sized_text();
  record.result = reader.sized_text();
  record.error = reader.sized_text();
  if (!reader.done() || state > static_cast<uint8_t>(RunState::cancelled)) {
    return damaged(run_id, "is damaged: its fields do not fit");
  }
  record.state = static_cast<RunState>(state);
  return record;
}

std::string encode_entry(std::string_view bytes) { return with_header(Kind::entry, bytes); }

Result<std::string_view> decode_entry(std::string_view key, std::string_view value) {
  return body_of(Kind::entry, key, value);
}

}  // namespace thinkd::memory
