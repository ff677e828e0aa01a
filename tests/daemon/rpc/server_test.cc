// The methods over their transports: one answer whatever the way, runs that end with their callers,
// progress that equals what explain tells.

#include <atomic>

#include "base/limits.h"
#include "base/log.h"
#include "tests/daemon/rpc/fixture.h"

using namespace thinkd;
using namespace thinkd::testing;

namespace {

std::string stable_json(const Json& answer) {
  const auto read = search::answer_from_json(answer);
  REQUIRE(read.ok());
  return stable(*read);
}

std::string code_and_param(const Served& served, const std::string& method, const Json& params) {
  RawPeer peer = RawPeer::unix_socket(served.options.socket_path);
  REQUIRE(peer.say(line(method, params)));
  const Json reply = Json::parse(peer.hear_until("\n"), nullptr, false);
  REQUIRE(reply.contains("error"));
  const Json& error = reply["error"];
  INFO(error.dump());
  return std::to_string(error["code"].get<int>()) + " " +
         (error.contains("data") ? error["data"].value("param", "") : "");
}

}  // namespace

TEST_CASE("one answer, whatever the way") {
  Served served;
  const std::string alone = stable(*served.runs->solve(request_of("best_of_n:n=4")));
  const Json params = solve_params("best_of_n:n=4");
  const auto ignore = [](const Json&) {};
  const auto by_http = daemon::call(served.http(), "solve", params);
  const auto by_socket = daemon::call(served.socket(), "solve", params);
  const auto by_web_socket = daemon::call(served.http(), "solve", params, ignore);
  REQUIRE(by_http.ok());
  REQUIRE(by_socket.ok());
  REQUIRE(by_web_socket.ok());
  CHECK(stable_json(*by_http) == alone);
  CHECK(stable_json(*by_socket) == alone);
  CHECK(stable_json(*by_web_socket) == alone);
  CHECK(served.until_idle());
}

TEST_CASE("32 solves at once: the bytes of each alone, in far fewer steps") {
  constexpr uint64_t kSolves = 32;
  ToyOptions toy = toy_options();  // texts long enough to meet one another
  toy.depth = 150;
  toy.end_logit = -5;
  std::vector<std::string> alone;
  uint64_t steps_alone = 0;
  {
    Bench bench({}, toy);
    search::Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
    for (uint64_t seed = 0; seed < kSolves; ++seed) {
      alone.push_back(stable(*runs.solve(request_of("best_of_n:n=4", seed))));
    }
    steps_alone = bench.engine->status().steps;
  }
  Served served({}, toy);
  std::vector<std::string> together(kSolves);
  std::vector<std::thread> clients;
  for (uint64_t seed = 0; seed < kSolves; ++seed) {
    clients.emplace_back([&, seed] {
      const auto answer = daemon::call(served.http(), "solve", solve_params("best_of_n:n=4", seed));
      together[seed] = answer ? to_text(*answer) : answer.status().message();
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  for (uint64_t seed = 0; seed < kSolves; ++seed) {
    INFO("seed " << seed << ": " << together[seed]);
    const Json answer = Json::parse(together[seed], nullptr, false);
    REQUIRE(answer.is_object());
    CHECK(stable_json(answer) == alone[seed]);
  }
  CHECK(served.status()["steps"].get<uint64_t>() * 3 < steps_alone);
  CHECK(served.until_idle());
}

TEST_CASE("progress equals what explain tells afterwards") {
  Served served;
  for (const daemon::Endpoint& endpoint : {served.http(), served.socket()}) {
    const std::string run_id = endpoint.port != 0 ? "by-web-socket" : "by-socket";
    Json params = solve_params("walk:n=3");
    params["run_id"] = run_id;
    std::vector<Json> told;
    const auto answer =
        daemon::call(endpoint, "solve", params, [&](const Json& event) { told.push_back(event); });
    REQUIRE(answer.ok());
    REQUIRE(told.size() > 10);
    for (size_t i = 0; i < told.size(); ++i) {
      CHECK(told[i]["run_id"] == run_id);
      CHECK(told[i]["index"] == i);
    }
    const auto tree = daemon::call(served.http(), "explain", {{"run_id", run_id}});
    REQUIRE(tree.ok());
    CHECK(*tree == Json::parse(to_text(search::tree_of(told)), nullptr, false));
  }
}

TEST_CASE("cancel from another connection frees everything and still answers") {
  Served served({}, endless_toy());
  std::string stopped_by;
  std::thread caller([&] {
    const auto answer = daemon::call(served.http(), "solve", endless_params("long"));
    stopped_by = answer ? (*answer)["stopped_by"].get<std::string>() : answer.status().message();
  });
  CHECK(served.until([](const Json& status) { return status["branches"].get<int>() >= 8; }));
  CHECK(served.status()["pages_used"].get<int>() > 0);
  const auto cancelled = daemon::call(served.socket(), "cancel", {{"run_id", "long"}});
  REQUIRE(cancelled.ok());
  caller.join();
  CHECK(stopped_by == "cancelled");
  CHECK(served.until_idle());
  const auto run = daemon::call(served.http(), "runs.get", {{"run_id", "long"}});
  REQUIRE(run.ok());
  CHECK((*run)["state"] == "cancelled");
}

TEST_CASE("a run ends with its caller, unless it is detached") {
  Served served({}, endless_toy());
  const auto running = [](const Json& status) { return status["branches"].get<int>() > 0; };
  const auto state = [&](const std::string& run_id) {
    const auto run = daemon::call(served.http(), "runs.get", {{"run_id", run_id}});
    return run ? (*run)["state"].get<std::string>() : run.status().message();
  };
  const std::string socket_line = line("solve", endless_params("by-socket"));
  const std::string http_text = post(served.host(), line("solve", endless_params("by-http")), "");
  {
    RawPeer peer = RawPeer::unix_socket(served.options.socket_path);
    REQUIRE(peer.say(socket_line));
    CHECK(served.until(running));
  }
  CHECK(served.until_idle());
  CHECK(state("by-socket") == "cancelled");
  {
    RawPeer peer = RawPeer::tcp(served.server->port());
    REQUIRE(peer.say(http_text));
    CHECK(served.until(running));
  }
  CHECK(served.until_idle());
  CHECK(state("by-http") == "cancelled");

  // Two wait for one run: it lives until the second has gone.
  {
    RawPeer second = RawPeer::unix_socket(served.options.socket_path);
    {
      RawPeer first = RawPeer::unix_socket(served.options.socket_path);
      REQUIRE(first.say(line("solve", endless_params("shared"))));
      CHECK_THAT(first.hear_until("\n"), Contains("opened"));
      REQUIRE(second.say(line("solve", endless_params("shared"))));
      CHECK_THAT(second.hear_until("\n"), Contains("opened"));
    }
    const uint64_t steps = served.status()["steps"];
    CHECK(served.until([&](const Json& now) { return now["steps"].get<uint64_t>() > steps + 20; }));
    CHECK(state("shared") == "running");
  }
  CHECK(served.until_idle());

  Json detached = endless_params("detached");
  detached["detach"] = true;
  {
    RawPeer peer = RawPeer::unix_socket(served.options.socket_path);
    REQUIRE(peer.say(line("solve", detached)));
    CHECK(served.until(running));
  }
  const uint64_t steps = served.status()["steps"];
  CHECK(served.until([&](const Json& now) { return now["steps"].get<uint64_t>() > steps + 20; }));
  CHECK(state("detached") == "running");
  REQUIRE(daemon::call(served.http(), "runs.cancel", {{"run_id", "detached"}}).ok());
  CHECK(served.until_idle());
}

TEST_CASE("a run id is answered once") {
  Served served;
  Json params = solve_params("best_of_n:n=4");
  params["run_id"] = "mine";
  const auto first = daemon::call(served.http(), "solve", params);
  REQUIRE(first.ok());
  const uint64_t steps = served.status()["steps"];
  const auto second = daemon::call(served.socket(), "solve", params);
  REQUIRE(second.ok());
  CHECK(*first == *second);
  CHECK(served.status()["steps"] == steps);
  params["question"] = "another";
  CHECK(daemon::call(served.http(), "solve", params).status().code() == Code::conflict);
}

TEST_CASE("who reads progress too slowly is cut, and nobody else") {
  set_log_level(LogLevel::error);
  daemon::ServerOptions options;
  options.stall_seconds = 0;
  options.backlog_bytes = 16 << 10;
  Served served(options);
  Json many = solve_params("best_of_n:n=512");
  many["run_id"] = "deaf";
  RawPeer deaf = RawPeer::unix_socket(served.options.socket_path);
  REQUIRE(deaf.say(line("solve", many)));
  CHECK(served.until([&](const Json&) {
    const auto run = served.runs->get("deaf");
    return run.ok() && run->state == search::RunState::cancelled;
  }));
  CHECK(served.until_connections(0));
  const std::string heard = deaf.hear();
  CHECK(heard.find("\"result\"") == std::string::npos);
  CHECK(daemon::call(served.http(), "solve", solve_params("greedy")).ok());
}

TEST_CASE("what is wrong is named") {
  Served served;
  const auto refusal = [&](Json more) {
    Json params = solve_params("greedy");
    params.update(more);
    return code_and_param(served, "solve", params);
  };
  CHECK(refusal({{"colour", "red"}}) == "-32602 colour");
  CHECK(refusal({{"memory", "off"}}) == "-32602 memory");  // not built yet
  CHECK(refusal({{"seed", -1}}) == "-32602 seed");
  CHECK(refusal({{"seed", "7"}}) == "-32602 seed");
  CHECK(refusal({{"question", 5}}) == "-32602 question");
  CHECK(refusal({{"budget", {{"tokens", 0}}}}) == "-32602 budget");
  CHECK(refusal({{"budget", {{"pages", 1'000'000'000}}}}) == "1002 budget");
  CHECK(refusal({{"strategy", "gready"}}) == "-32602 strategy");
  CHECK(refusal({{"strategy", "best_of_n:n=0"}}) == "-32602 strategy");
  CHECK(refusal({{"verifier", "nobody"}}) == "-32602 verifier");
  CHECK(refusal({{"verifier", "exact"}}) == "-32602 verifier");
  CHECK(refusal({{"temperature", 1000}}) == "-32602 temperature");
  CHECK(refusal({{"run_id", "a/b"}}) == "-32602 run_id");
  CHECK(refusal({{"detach", 1}}) == "-32602 detach");
  CHECK(refusal({{"model", "another"}}) == "1003 model");
  CHECK(refusal({{"model", 3}}) == "-32602 model");
  CHECK(code_and_param(served, "solve", Json::object()) == "-32602 question");
  CHECK(code_and_param(served, "solve", Json::array({"say ab."})) == "-32602 ");
  CHECK(code_and_param(served, "cancel", Json::object()) == "-32602 run_id");
  CHECK(code_and_param(served, "cancel", {{"run_id", 7}}) == "-32602 run_id");
  CHECK(code_and_param(served, "cancel", {{"run_id", "nobody"}}) == "1001 ");
  CHECK(code_and_param(served, "explain", {{"run_id", "nobody"}}) == "1001 ");
  CHECK(code_and_param(served, "runs.get", {{"run_id", "nobody"}, {"x", 1}}) == "-32602 x");
  CHECK(code_and_param(served, "runs.list", {{"limit", 0}}) == "-32602 limit");
  CHECK(code_and_param(served, "server.status", {{"x", 1}}) == "-32602 x");
  const auto other =
      daemon::call(served.http(), "solve", {{"question", "q"}, {"model", "another"}});
  CHECK_THAT(other.status().message(), Contains("another"));
  CHECK_THAT(other.status().message(), Contains("toy"));
  Json named = solve_params("greedy");
  named["model"] = "toy";
  CHECK(daemon::call(served.http(), "solve", named).ok());
}

TEST_CASE("the lists") {
  Served served;
  REQUIRE(daemon::call(served.http(), "solve", solve_params("greedy")).ok());
  const auto strategies = daemon::call(served.http(), "strategies.list", Json());
  REQUIRE(strategies.ok());
  CHECK(strategies->size() == served.bench.registry.list().size());
  CHECK((*strategies)[0].contains("params"));
  const auto verifiers = daemon::call(served.http(), "verifiers.list", Json::object());
  REQUIRE(verifiers.ok());
  CHECK(verifiers->size() == served.bench.verifiers.list().size());
  const auto models = daemon::call(served.http(), "models.list", Json());
  REQUIRE(models.ok());
  CHECK(models->empty());
  const auto runs = daemon::call(served.http(), "runs.list", {{"limit", 5}});
  REQUIRE(runs.ok());
  REQUIRE(runs->size() == 1);
  CHECK((*runs)[0]["state"] == "done");
  CHECK((*runs)[0]["answer"].is_string());
  const Json status = served.status();
  for (const char* member : {"version", "isa", "steps", "rows", "pages_used", "pages_cached",
                             "pages_total", "branches", "runs"}) {
    CHECK(status.contains(member));
  }
}

TEST_CASE("the end of the server: ready answers go out, the others end") {
  Served served({}, endless_toy());
  RawPeer waiting = RawPeer::unix_socket(served.options.socket_path);
  REQUIRE(waiting.say(line("solve", endless_params("cut"))));
  CHECK_THAT(waiting.hear_until("\n"), Contains("opened"));
  served.server->stop_listening();
  CHECK(::access(served.options.socket_path.c_str(), F_OK) != 0);
  REQUIRE(served.runs->cancel("cut").ok());
  REQUIRE(served.runs->wait("cut").ok());
  served.server.reset();
  CHECK_THAT(waiting.hear(), Contains("\"stopped_by\":\"cancelled\""));
}

TEST_CASE("a server that ends under its runs") {
  Served served({}, endless_toy());
  RawPeer waiting = RawPeer::unix_socket(served.options.socket_path);
  REQUIRE(waiting.say(line("solve", endless_params("left"))));
  CHECK_THAT(waiting.hear_until("\n"), Contains("opened"));
  served.server.reset();
  waiting.hear();  // it ends
  const auto answer = served.runs->wait("left");
  REQUIRE(answer.ok());
  CHECK(answer->stopped_by == "cancelled");
}

TEST_CASE("lines: too long, empty, several at once") {
  Served served;
  RawPeer peer = RawPeer::unix_socket(served.options.socket_path);
  REQUIRE(peer.say("\r\n\n" + line("server.status", Json::object(), 1) +
                   line("strategies.list", Json::object(), 2)));
  CHECK_THAT(peer.hear_until("\n"), Contains("\"id\":1"));
  peer.say(std::string(limits::kHttpBodyBytes + 2, ' '));
  const std::string rest = peer.hear();
  CHECK_THAT(rest, Contains("-32600"));
  CHECK_THAT(rest, Contains(std::to_string(limits::kHttpBodyBytes)));
}

TEST_CASE("where a client may connect") {
  CHECK(daemon::parse_endpoint("http://127.0.0.1:7333").ok());
  CHECK(daemon::parse_endpoint("http://localhost:7333/rpc")->port == 7333);
  CHECK(daemon::parse_endpoint("http://[::1]:7333/")->host == "::1");
  for (const char* bad : {"", "127.0.0.1:7333", "https://127.0.0.1:7333", "http://example.org:80",
                          "http://127.0.0.1:7333/x"}) {
    INFO(bad);
    CHECK_FALSE(daemon::parse_endpoint(bad).ok());
  }
  CHECK(daemon::call({"/nowhere/thinkd.sock", "", 0}, "server.status", Json()).status().code() ==
        Code::io);
}
