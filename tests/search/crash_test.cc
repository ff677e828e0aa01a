// The crash suite: a child process is killed right after each journal entry it writes; this process
// goes on with the run and must come to the answer, candidates and bill of the run that nobody
// killed.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include "memory/store.h"
#include "tests/search/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

namespace {

constexpr const char* kStoreVariable = "THINKD_CRASH_TEST_STORE";
constexpr const char* kStrategyVariable = "THINKD_CRASH_TEST_STRATEGY";
constexpr const char* kWalk = "walk:n=2";
constexpr const char* kRace = "race:n=4";  // drops branches while they run

Request crash_request(const std::string& strategy) {
  Request request = request_of(strategy);
  request.run_id = "victim";
  return request;
}

// Runs this binary again as the victim.
pid_t start_victim(const std::string& store, const std::string& strategy,
                   const std::string& fault) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kStoreVariable, store.c_str(), 1);
    setenv(kStrategyVariable, strategy.c_str(), 1);
    if (!fault.empty()) {
      setenv("THINKD_FAULT", fault.c_str(), 1);
    }
    execl("/proc/self/exe", "crash", "victim", static_cast<char*>(nullptr));
    _exit(127);
  }
  return child;
}

// Gives the signal that ended the victim, 0 where it lived.
int run_victim(const std::string& store, const std::string& strategy, uint32_t kill_at) {
  const pid_t child = start_victim(store, strategy, "journal:" + std::to_string(kill_at));
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) {
    REQUIRE(WEXITSTATUS(status) == 0);
  }
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

// Hidden: only the suite below starts it, in a process of its own.
TEST_CASE("victim", "[.]") {
  const char* path = std::getenv(kStoreVariable);
  const char* strategy = std::getenv(kStrategyVariable);
  REQUIRE(path != nullptr);
  REQUIRE(strategy != nullptr);
  auto store = memory::Store::open(path);
  REQUIRE(store.ok());
  Bench bench;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  REQUIRE(runs.solve(crash_request(strategy)).ok());
}

TEST_CASE("killed after every journal entry, a run comes to the same end") {
  const std::string strategy = GENERATE(as<std::string>(), kWalk, kRace);
  CAPTURE(strategy);
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  std::string whole;
  uint64_t rows_whole = 0;
  uint32_t entries = 0;
  {
    ScratchFolder scratch;
    auto store = memory::Store::open(scratch.path("store"));
    REQUIRE(store.ok());
    Bench bench(cold);
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    const auto answer = runs.solve(crash_request(strategy));
    REQUIRE(answer.ok());
    whole = stable(*answer);
    rows_whole = bench.engine->status().rows;
    entries = static_cast<uint32_t>((*store)->read_journal("victim")->size());
  }
  REQUIRE(entries > 8);
  REQUIRE(rows_whole > 0);
  uint64_t rows = 0;
  for (uint32_t kill_at = 0; kill_at < entries; ++kill_at) {
    INFO("killed at entry " << kill_at << " of " << entries);
    ScratchFolder scratch;
    REQUIRE(run_victim(scratch.path("store"), strategy, kill_at) == SIGKILL);
    auto store = memory::Store::open(scratch.path("store"));
    REQUIRE(store.ok());
    REQUIRE((*store)->read_journal("victim")->size() == kill_at + 1);
    Bench bench(cold);
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    REQUIRE(runs.resume("").ok());
    const auto answer = runs.wait("victim");
    REQUIRE(answer.ok());
    CHECK(stable(*answer) == whole);
    rows = bench.engine->status().rows;
    CHECK(runs.replay("victim")->equal);
  }
  CHECK(rows == 0);  // everything was in the journal
}

TEST_CASE("killed at random times, a run comes to the same end") {
  using Clock = std::chrono::steady_clock;
  const auto seed = static_cast<uint32_t>(std::random_device{}());
  INFO("seed=" << seed);
  std::mt19937 random(seed);
  const std::string strategy = GENERATE(as<std::string>(), kWalk, kRace);
  CAPTURE(strategy);
  std::string whole;
  Clock::duration life{};
  {
    ScratchFolder scratch;
    const auto start = Clock::now();
    const pid_t child = start_victim(scratch.path("store"), strategy, "");
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    life = Clock::now() - start;
    auto store = memory::Store::open(scratch.path("store"));
    REQUIRE(store.ok());
    Bench bench;
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    whole = stable(*runs.wait("victim"));
  }
  for (int round = 0; round < 10; ++round) {
    ScratchFolder scratch;
    const pid_t child = start_victim(scratch.path("store"), strategy, "");
    const auto kill_at = Clock::now() + life * (random() % 1000) / 1000;
    int status = 0;
    bool over = false;
    while (!over && Clock::now() < kill_at) {
      over = waitpid(child, &status, WNOHANG) == child;
    }
    if (!over) {
      kill(child, SIGKILL);
      REQUIRE(waitpid(child, &status, 0) == child);
    }
    auto store = memory::Store::open(scratch.path("store"));
    REQUIRE(store.ok());
    Bench bench;
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    if (!runs.get("victim").ok()) {
      REQUIRE(runs.start(crash_request(strategy)).ok());  // killed before it was admitted
    } else if (runs.get("victim")->result.empty()) {
      REQUIRE(runs.resume("").ok());
    }
    const auto answer = runs.wait("victim");
    REQUIRE(answer.ok());
    CHECK(stable(*answer) == whole);
  }
}
