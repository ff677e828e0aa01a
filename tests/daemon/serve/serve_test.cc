// The daemon as a process: asked over each of its ways, its store refused to others, ended softly.

#include <poll.h>

#include <chrono>
#include <functional>
#include <utility>

#include "daemon/rpc/client.h"
#include "tests/daemon/cli/program.h"

namespace thinkd::testing {
namespace {

using Texts = std::vector<std::string>;

// False where it does not come to be so.
bool until(const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!so()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    poll(nullptr, 0, 2);
  }
  return true;
}

// What two runs with one seed share, with members in one order wherever the answer came from.
std::string shared_part(const Json& answer) {
  const auto ordered = nlohmann::ordered_json::parse(answer.dump());
  return Json::parse(stable_part(ordered)).dump();
}

std::string shared_part(const Ran& ran) { return shared_part(Json::parse(ran.json().dump())); }

class Daemon {
 public:
  explicit Daemon(Program& program, const std::string& drain_seconds = "30") : program_(program) {
    REQUIRE(write_file(program.path("thinkd.toml"), "drain_seconds = " + drain_seconds).ok());
    pid_ = program.start({"serve", "--listen", "127.0.0.1:0", "--json", "--model", "tiny",
                          "--threads", "1", "--config", program.path("thinkd.toml")},
                         "serve");
    bool lives = true;
    (void)until([&] {
      int status = 0;
      lives = waitpid(pid_, &status, WNOHANG) == 0;
      return !lives || read_places();
    });
    if (http_.port == 0) {
      if (lives) {
        kill(pid_, SIGKILL);
        (void)wait();
      }
      FAIL("the daemon does not serve: " << *read_file(program.path("serve.err"), 1 << 16));
    }
  }
  ~Daemon() {
    if (pid_ != 0) {
      kill(pid_, SIGKILL);
      (void)program_.wait(pid_, "serve");
    }
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  void signal(int number) const { REQUIRE(kill(pid_, number) == 0); }
  Ran wait() { return program_.wait(std::exchange(pid_, 0), "serve"); }

  pid_t pid() const { return pid_; }
  const daemon::Endpoint& http() const { return http_; }
  const daemon::Endpoint& socket() const { return socket_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(http_.port); }

  Json ask(const std::string& method, const Json& params = Json::object()) const {
    const Result<Json> result = daemon::call(http_, method, params);
    INFO(method << ": " << result.status().message());
    REQUIRE(result.ok());
    return *result;
  }

 private:
  // From what it prints when it serves.
  bool read_places() {
    const auto out = read_file(program_.path("serve.out"), 1 << 16);
    const Json told = out ? Json::parse(*out, nullptr, false) : Json();
    if (!told.is_object()) {
      return false;
    }
    http_.host = "127.0.0.1";
    http_.port = told["port"].get<uint16_t>();
    socket_.socket_path = told["socket"].get<std::string>();
    return true;
  }

  Program& program_;
  pid_t pid_ = 0;
  daemon::Endpoint http_;
  daemon::Endpoint socket_;
};

TEST_CASE("one answer over HTTP, the socket, ask and --server; held stores are refused") {
  Program program;
  const Texts ask = {"ask", "Two and two?", "--strategy", "best_of_n:n=3", "--max-tokens",
                     "16",  "--seed",       "1",          "--json"};
  const Json solve = {
      {"question", "Two and two?"}, {"strategy", "best_of_n:n=3"}, {"max_tokens", 16}, {"seed", 1}};
  Texts quiet = ask;
  quiet.push_back("--no-trace");
  const std::string alone = shared_part(program.think(quiet));
  Daemon daemon(program);
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
