#include "memory/record.h"

#include <cstdlib>

#include "base/limits.h"
#include "memory/paths.h"
#include "tests/support/catch.h"

namespace thinkd::memory {

TEST_CASE("a run's bytes read back, and no damaged form of them does") {
  RunRecord record;
  record.created_us = -5;
  record.state = RunState::failed;
  record.request = R"({"question":"x"})";
  record.error = "why";
  const std::string bytes = encode_run(record);
  const Result<RunRecord> back = decode_run("id", bytes);
  REQUIRE(back.ok());
  CHECK(back->run_id == "id");
  CHECK(back->created_us == -5);
  CHECK(back->state == RunState::failed);
  CHECK(back->request == record.request);
  CHECK(back->result.empty());
  CHECK(back->error == "why");

  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK(decode_run("id", bytes.substr(0, size)).status().code() == Code::corrupt);
  }
  CHECK(decode_run("id", bytes + "x").status().code() == Code::corrupt);
  for (size_t at = 0; at < 12 + 9; ++at) {  // header, time and state: any length or kind byte
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    const bool time = at >= 12 && at < 20;
    CHECK(decode_run("id", changed).ok() == time);
  }
  CHECK(decode_entry("k", bytes).status().code() == Code::corrupt);
}

TEST_CASE("another version is named") {
  std::string bytes = encode_entry("abc");
  bytes[4] = 9;
  const Status status = decode_entry("journal/r/0", bytes).status();
  CHECK(status.code() == Code::corrupt);
  CHECK_THAT(status.message(),
             Contains("journal/r/0") && Contains("version 9") && Contains("version 1"));
}

TEST_CASE("run ids are short and plain") {
  CHECK(check_run_id("a.B_9-z").ok());
  CHECK(check_run_id(std::string(limits::kRunIdBytes, 'x')).ok());
  const std::string long_id(limits::kRunIdBytes + 1, 'x');
  CHECK_THAT(check_run_id(long_id).message(), Contains("129") && Contains("128"));
  for (const std::string& id : {std::string(), std::string("a b"), std::string("a/b"),
                                std::string("a\0b", 3), std::string("\xc3\xa4")}) {
    CHECK(check_run_id(id).code() == Code::invalid);
  }
}

TEST_CASE("the default folder follows XDG, then HOME") {
  const auto saved = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  const std::string state = saved("XDG_STATE_HOME");
  const std::string home = saved("HOME");
  ::setenv("HOME", "/home/ann", 1);
  ::setenv("XDG_STATE_HOME", "/state", 1);
  CHECK(*default_store_dir() == "/state/thinkd");
  ::setenv("XDG_STATE_HOME", "relative", 1);
  CHECK(*default_store_dir() == "/home/ann/.local/state/thinkd");
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  CHECK(default_store_dir().status().code() == Code::unavailable);
  ::setenv("HOME", home.c_str(), 1);
  if (!state.empty()) {
    ::setenv("XDG_STATE_HOME", state.c_str(), 1);
  }
}

}  // namespace thinkd::memory
