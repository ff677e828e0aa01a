// The Host and Origin headers that a loopback server takes.

#include "daemon/rpc/host_check.h"
#include "tests/support/catch.h"

using namespace thinkd::daemon;

TEST_CASE("Host: the loopback names with the server's port") {
  for (const char* good : {"127.0.0.1:7333", "localhost:7333", "LOCALHOST:7333", "LocalHost.:7333",
                           "[::1]:7333", "127.0.0.1.:7333", "127.8.0.1:7333"}) {
    INFO(good);
    CHECK(host_allowed(good, 7333));
  }
  for (const char* bad : {"",
                          "localhost",
                          "127.0.0.1",
                          "127.0.0.1:7334",
                          "evil.example:7333",
                          "localhost.evil:7333",
                          "127.0.0.1.evil.example:7333",
                          "localhost:7333/v1/models?",
                          "localhost:7333@evil",
                          "user@localhost:7333",
                          "::1:7333",
                          "[::1",
                          "[::1]7333",
                          "[::2]:7333",
                          "[]:7333",
                          "127.0.0.256:7333",
                          "127.0.0:7333",
                          "0127.0.0.1:7333",
                          "2130706433:7333",
                          "0.0.0.0:7333",
                          "localhost:",
                          "localhost:+7333",
                          "localhost:7333 ",
                          " localhost:7333",
                          "localhost..:7333",
                          "localhost:99999",
                          "localhost:73330",
                          "127.0.0.1:7333:7333",
                          ".:7333"}) {
    INFO(bad);
    CHECK_FALSE(host_allowed(bad, 7333));
  }
  CHECK(host_allowed("localhost", 80));
}

TEST_CASE("Origin: a page of this machine's loopback") {
  for (const char* good : {"http://localhost:7333", "https://localhost", "http://127.0.0.1:3000",
                           "HTTP://[::1]:7333", "http://localhost."}) {
    INFO(good);
    CHECK(origin_allowed(good));
  }
  for (const char* bad : {"", "null", "http://evil.example", "http://localhost.evil.example",
                          "file://", "http://", "http://localhost/", "localhost",
                          "chrome-extension://abc", "http://localhost:1@evil.example"}) {
    INFO(bad);
    CHECK_FALSE(origin_allowed(bad));
  }
}
