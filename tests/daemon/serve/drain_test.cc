// How a daemon ends: runs at work get their time, what is left goes on in the next process.

#include <optional>

#include "memory/store.h"
#include "tests/daemon/serve/daemon_process.h"

namespace thinkd::testing {
namespace {

constexpr int kTries = 20;  // on a machine that has other things to do, a signal may come late

// One question in both forms: some hundred steps, in branches that end at different times.
Json solve(bool detach) {
  return {{"question", "q"},  {"strategy", "best_of_n:n=12"},
          {"max_tokens", 80}, {"seed", 3},
          {"run_id", "long"}, {"detach", detach}};
}

std::string undisturbed(Program& program) {
  return shared_part(program.think({"ask", "q", "--strategy", "best_of_n:n=12", "--max-tokens",
                                    "80", "--seed", "3", "--json", "--no-trace"}));
}

// Asks over the socket and sends the signal at the run's first event.
Result<Json> solve_and_signal(const DaemonProcess& daemon, const Json& params, int signal) {
  bool sent = false;
  return daemon::call(daemon.socket(), "solve", params, [&](const Json&) {
    if (!std::exchange(sent, true)) {
      daemon.signal(signal);
    }
  });
}

// The run's state and how many entries its journal has, of a store that nobody holds.
std::pair<memory::RunState, size_t> left_behind(const Program& program) {
  const auto store = memory::Store::open(program.store());
  REQUIRE(store.ok());
  const auto record = (*store)->get_run("long");
  REQUIRE(record.ok());
  const auto journal = (*store)->read_journal("long");
  REQUIRE(journal.ok());
  return {record->state, journal->size()};
}

void check_next_daemon_ends_it(Program& program, const std::string& whole) {
  DaemonProcess daemon(program);
  REQUIRE(until([&] { return daemon.ask("runs.get", {{"run_id", "long"}})["state"] == "done"; }));
  CHECK(shared_part(daemon.ask("runs.get", {{"run_id", "long"}})["result"]) == whole);
  CHECK(shared_part(daemon.ask("solve", solve(true))) == whole);  // answered once
  CHECK(daemon.ask("runs.list").size() == 1);
  daemon.signal(SIGTERM);
  CHECK(daemon.wait().code == 0);
}

TEST_CASE("SIGTERM lets a run finish where there is time") {
  Program program;
  const std::string whole = undisturbed(program);
  DaemonProcess daemon(program, "60");
  const Result<Json> answer = solve_and_signal(daemon, solve(false), SIGTERM);
  INFO(answer.status().message());
  REQUIRE(answer.ok());
  CHECK(shared_part(*answer) == whole);
  const Ran ended = daemon.wait();
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  CHECK(left_behind(program).first == memory::RunState::done);
}

// False where the run was over before the signal came to it; then its answer is whole.
bool interrupted(Program& program, const std::string& whole, bool detach) {
  DaemonProcess daemon(program, "0");
  const Result<Json> answer = solve_and_signal(daemon, solve(detach), SIGTERM);
  CHECK(daemon.wait().code == 0);
  if (answer.ok()) {
    CHECK(shared_part(*answer) == whole);
    return false;
  }
  CHECK(answer.status().code() == Code::cancelled);
  CHECK_THAT(answer.status().message(), Contains("resumed"));
  return true;
}

TEST_CASE("a run whose time to finish is over goes on elsewhere") {
  const bool detach = GENERATE(false, true);
  std::optional<Program> program;
  std::string whole;
  bool was = false;
  for (int tries = 0; tries < kTries && !was; ++tries) {
    program.emplace();
    whole = undisturbed(*program);
    was = interrupted(*program, whole, detach);
  }
  REQUIRE(was);
  CHECK(left_behind(*program).first == memory::RunState::running);
  if (detach) {
    return check_next_daemon_ends_it(*program, whole);
  }
  const Ran resumed = program->think({"resume", "--json"});
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(shared_part(resumed) == whole);
  CHECK(left_behind(*program).first == memory::RunState::done);
}

TEST_CASE("a detached run that a killed daemon left goes on in the next one") {
  Program program;
  const std::string whole = undisturbed(program);
  {
    DaemonProcess daemon(program, "30", "journal:4");
    CHECK(daemon::call(daemon.http(), "solve", solve(true)).status().code() == Code::io);
    CHECK(daemon.wait().code == 128 + SIGKILL);
  }
  const auto [state, entries] = left_behind(program);
  REQUIRE(state == memory::RunState::running);
  CHECK(entries == 5);
  check_next_daemon_ends_it(program, whole);  // over the socket file that the killed one left
}

// False where the replay was over before the signal came to it.
bool replay_given_up(Program& program) {
  DaemonProcess daemon(program, "60");
  const uint64_t before = daemon.steps();
  Caller replay(daemon.http(), "runs.replay", {{"run_id", "long"}});
  REQUIRE(until([&] { return daemon.steps() > before; }));
  daemon.signal(SIGTERM);
  const Result<Json>& report = replay.result();
  CHECK(daemon.wait().code == 0);
  if (report.ok()) {
    CHECK((*report)["equal"] == true);
    return false;
  }
  CHECK(report.status().code() == Code::unavailable);
  CHECK_THAT(report.status().message(), Contains("shutting down"));
  return true;
}

TEST_CASE("SIGTERM gives up a replay") {
  Program program;
  {
    DaemonProcess daemon(program);
    (void)daemon.ask("solve", solve(false));
  }
  bool was = false;
  for (int tries = 0; tries < kTries && !was; ++tries) {
    was = replay_given_up(program);
  }
  CHECK(was);
}

TEST_CASE("while runs finish nobody is let in, and a second signal ends the daemon at once") {
  Program program;
  DaemonProcess daemon(program, "60");
  Json params = solve(true);
  params["strategy"] = "best_of_n:n=256";  // more than this test waits for
  params["max_tokens"] = 400;
  Caller caller(daemon.http(), "solve", params);
  REQUIRE(until([&] { return daemon.steps() > 0; }));
  daemon.signal(SIGTERM);
  REQUIRE(until([&] {
    return daemon::call(daemon.http(), "server.status", {}).status().code() == Code::io;
  }));
  CHECK(daemon::call(daemon.socket(), "server.status", {}).status().code() == Code::io);
  daemon.signal(SIGTERM);
  CHECK(caller.result().status().code() == Code::io);
  CHECK(daemon.wait().code == 130);
  CHECK(left_behind(program).first == memory::RunState::running);
}

}  // namespace
}  // namespace thinkd::testing
