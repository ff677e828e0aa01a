#include "daemon/config.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "daemon/cli/arguments.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::daemon {
namespace {

std::string error_of(const std::string& toml) {
  const ScratchFolder folder;
  REQUIRE(write_file(folder.path("c.toml"), toml).ok());
  Config config;
  const Status status = read_config(folder.path("c.toml"), config);
  CHECK(status.code() == Code::invalid);
  CHECK_THAT(status.message(), Contains("c.toml"));
  return status.message();
}

TEST_CASE("the example holds every key with its default") {
  const std::string path = std::string(THINKD_SOURCE_DIR) + "/configs/thinkd.toml";
  Config config;
  const Status status = read_config(path, config);
  INFO(status.message());
  REQUIRE(status.ok());
  const Config defaults;
  CHECK(config.threads == defaults.threads);
  CHECK(config.isa == defaults.isa);
  CHECK(config.kv_pool == defaults.kv_pool);
  CHECK(config.listen == defaults.listen);
  CHECK(config.page_share == defaults.page_share);
  CHECK(config.strategy_threads == defaults.strategy_threads);
  CHECK(config.drain_seconds == defaults.drain_seconds);
  const std::string text = *read_file(path, 1 << 20);
  for (std::string_view key : config_keys()) {
    CHECK_THAT(text, Contains("\n" + std::string(key) + " = ") ||
                         Contains("\n# " + std::string(key) + " = "));
  }
}

TEST_CASE("a file that says every key") {
  const ScratchFolder folder;
  REQUIRE(write_file(folder.path("c.toml"), R"(
model = "a"
store = "/s"
threads = 3
compute = "f32"
isa = "portable"
kv_pool = 1000000
kv = "f32"
listen = "127.0.0.1:0"
page_share = 2
strategy_threads = 5
drain_seconds = 0.5
)")
              .ok());
  Config config;
  REQUIRE(read_config(folder.path("c.toml"), config).ok());
  CHECK(config.model == "a");
  CHECK(config.store == "/s");
  CHECK(config.threads == 3);
  CHECK(config.compute == engine::ComputeMode::f32);
  CHECK(config.isa == "portable");
  CHECK(config.kv_pool == 1'000'000);
  CHECK(config.kv == engine::KvType::f32);
  CHECK(config.listen == "127.0.0.1:0");
  CHECK(config.page_share == 2);
  CHECK(config.strategy_threads == 5);
  CHECK(config.drain_seconds == 0.5);

  Arguments arguments;  // a flag wins
  arguments.add("config", folder.path("c.toml"));
  arguments.add("threads", "7");
  const Result<Config> merged = load_config(arguments);
  REQUIRE(merged.ok());
  CHECK(merged->threads == 7);
  CHECK(merged->page_share == 2);
}

TEST_CASE("what a file cannot say") {
  CHECK_THAT(error_of("thread = 2"), Contains("unknown key 'thread'") && Contains("threads"));
  CHECK_THAT(error_of("[server]\nlisten = \"127.0.0.1:1\""), Contains("server"));
  CHECK_THAT(error_of("threads = \"2\""), Contains("threads must be"));
  CHECK_THAT(error_of("threads = -1"), Contains("'-1'"));
  CHECK_THAT(error_of("threads = 1.5"), Contains("'1.5'"));
  CHECK_THAT(error_of("threads = 4000"), Contains("256"));
  CHECK_THAT(error_of("model = 3"), Contains("model must be"));
  CHECK_THAT(error_of("model = \"\""), Contains("model"));
  CHECK_THAT(error_of("compute = \"f16\""), Contains("auto or f32"));
  CHECK_THAT(error_of("isa = \"sse9\""), Contains("isa"));
  CHECK_THAT(error_of("listen = \"127.0.0.1\""), Contains("HOST:PORT"));
  CHECK_THAT(error_of("listen = \"127.0.0.1:70000\""), Contains("HOST:PORT"));
  CHECK_THAT(error_of("drain_seconds = nan"), Contains("drain_seconds"));
  CHECK_THAT(error_of("threads = "), Contains("line 1"));
  CHECK_THAT(error_of("threads = 1\nthreads = 2"), Contains("line 2"));
  Config config;
  CHECK(read_config("/no/such/file.toml", config).code() != Code::ok);
}

TEST_CASE("numbers on the command line are read strictly") {
  Arguments arguments;
  for (const char* text :
       {"", " 1", "1 ", "+1", "-1", "0x10", "1e3", "1.5", "abc", "18446744073709551616", "11"}) {
    Arguments one;
    one.add("tokens", text);
    const auto count = one.count("tokens", 0, 10);
    INFO(text);
    REQUIRE_FALSE(count.ok());
    CHECK(count.status().code() == Code::invalid);
    CHECK_THAT(count.status().message(), Contains("--tokens") && Contains("from 0 to 10"));
  }
  for (const char* text : {"nan", "inf", "1e400", "0.5x", "", "2"}) {
    Arguments one;
    one.add("top-p", text);
    INFO(text);
    CHECK_FALSE(one.number("top-p", 0, 1).ok());
  }
  arguments.add("tokens", "10");
  CHECK(**arguments.count("tokens", 0, 10) == 10);
  CHECK_FALSE(arguments.count("absent", 0, 10)->has_value());
}

}  // namespace
}  // namespace thinkd::daemon
