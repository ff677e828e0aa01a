// The daemon as a process: asked over each of its ways, its store refused to others, ended softly.

#include "tests/daemon/serve/daemon_process.h"

namespace thinkd::testing {
namespace {

TEST_CASE("one answer over HTTP, the socket, ask and --server; held stores are refused") {
  Program program;
  const Texts ask = {"ask", "Two and two?", "--strategy", "best_of_n:n=3", "--max-tokens",
                     "16",  "--seed",       "1",          "--json"};
  const Json solve = {
      {"question", "Two and two?"}, {"strategy", "best_of_n:n=3"}, {"max_tokens", 16}, {"seed", 1}};
  Texts quiet = ask;
  quiet.push_back("--no-trace");
  const std::string alone = shared_part(program.think(quiet));
  DaemonProcess daemon(program);
  CHECK(shared_part(daemon.ask("solve", solve)) == alone);
  const Result<Json> by_socket = daemon::call(daemon.socket(), "solve", solve);
  REQUIRE(by_socket.ok());
  CHECK(shared_part(*by_socket) == alone);

  // The daemon holds the store, so this one can only have asked it.
  const Ran asked = program.think(ask);
  REQUIRE(asked.code == 0);
  CHECK(shared_part(asked) == alone);
  CHECK_THAT(asked.err, Contains("--threads changes nothing"));
  const std::string run_id = asked.json()["run_id"];
  CHECK(daemon.ask("runs.get", {{"run_id", run_id}})["state"] == "done");
  CHECK(program.run({"runs", "list", "--json"}).json().size() == 3);

  Program elsewhere;
  Texts away = ask;
  away.insert(away.end(), {"--server", daemon.url()});
  const Ran far = elsewhere.run(away);
  INFO(far.err);
  REQUIRE(far.code == 0);
  CHECK(shared_part(far) == alone);
  CHECK(daemon.ask("runs.list").size() == 4);
  CHECK(elsewhere.run({"runs", "list", "--json"}).json().empty());

  const Ran second = program.think({"serve", "--listen", "127.0.0.1:0"});
  CHECK(second.code == 3);
  CHECK_THAT(second.err, Contains(std::to_string(daemon.pid())));

  daemon.signal(SIGTERM);
  const Ran ended = daemon.wait();
  CHECK(ended.code == 0);
  CHECK(ended.err.empty());
  CHECK_FALSE(std::filesystem::exists(daemon.socket().socket_path));
  CHECK(elsewhere.run(away).code == 1);
  CHECK(program.run({"runs", "list", "--json"}).json().size() == 4);
}

}  // namespace
}  // namespace thinkd::testing
