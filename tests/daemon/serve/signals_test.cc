// The watch of SIGINT and SIGTERM, in this process.

#include "daemon/signals.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/catch.h"

namespace thinkd::daemon {
namespace {

TEST_CASE("a handler is not taken away from under its call") {
  std::atomic<bool> entered{false};
  std::atomic<bool> taking{false};
  std::atomic<bool> left{false};
  SignalWatch signals;
  signals.set_handler([&] {
    entered = true;
    while (!taking) {
      std::this_thread::yield();
    }
    for (int i = 0; i < 200; ++i) {  // the other thread has time to come back too early
      std::this_thread::yield();
    }
    left = true;
  });
  CHECK_FALSE(signals.fired());
  REQUIRE(kill(getpid(), SIGINT) == 0);
  while (!entered) {
    std::this_thread::yield();
  }
  taking = true;
  signals.set_handler(nullptr);
  CHECK(left);
  CHECK(signals.fired());
}

TEST_CASE("the first signal can be waited for") {
  SignalWatch signals;
  const std::future<void> came = signals.first();
  CHECK(came.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  REQUIRE(kill(getpid(), SIGTERM) == 0);
  CHECK(came.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
  CHECK(signals.fired());
}

}  // namespace
}  // namespace thinkd::daemon
