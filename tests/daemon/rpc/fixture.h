#pragma once
// A server on the toy model, on a port and a socket of its own, and raw peers that speak bytes to
// it.

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "daemon/rpc/client.h"
#include "daemon/rpc/server.h"
#include "tests/search/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

namespace thinkd::testing {

// Texts that end only at their limit: runs that last until somebody ends them.
inline ToyOptions endless_toy() {
  ToyOptions toy = toy_options();
  toy.depth = 4000;
  toy.end_logit = -1000;
  return toy;
}

struct Served {
  explicit Served(const daemon::ServerOptions& wanted = {}, ToyOptions toy = toy_options(),
                  engine::EngineOptions engine = {})
      : bench(engine, toy),
        runs(std::make_unique<search::Runs>(*bench.engine, bench.verifiers, bench.registry, nullptr,
                                            search::RunsOptions{})),
        services{*runs,          *bench.engine, bench.registry, bench.verifiers,
                 scratch.path(), "toy",         "portable"},
        options(wanted) {
    options.listen = "127.0.0.1:0";
    options.socket_path = scratch.path("thinkd.sock");
    auto started = daemon::Server::start(options, services);
    REQUIRE(started.ok());
    server = *std::move(started);
  }

  daemon::Endpoint http() const { return {"", "127.0.0.1", server->port()}; }
  daemon::Endpoint socket() const { return {options.socket_path, "", 0}; }
  std::string host() const { return "127.0.0.1:" + std::to_string(server->port()); }

  Json status() const {
    auto status = daemon::call(http(), "server.status", Json());
    REQUIRE(status.ok());
    return *status;
  }

  // Asks until it is so; false where it does not come to be.
  bool until(const std::function<bool(const Json&)>& so) const {
    for (int tries = 0; tries < 2000; ++tries) {
      if (so(status())) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }
  bool until_connections(uint32_t most) const {
    for (int tries = 0; tries < 100'000; ++tries) {
      if (server->connections() <= most) {
        return true;
      }
      std::this_thread::yield();
    }
    return false;
  }
  bool until_idle() const {
    return until([](const Json& status) {
      return status["runs"] == 0 && status["branches"] == 0 && status["pages_used"] == 0;
    });
  }

  ScratchFolder scratch;
  Bench bench;
  std::unique_ptr<search::Runs> runs;
  daemon::Services services;
  daemon::ServerOptions options;
  std::unique_ptr<daemon::Server> server;  // ends first
};

// A peer that says bytes and hears bytes.
class RawPeer {
 public:
  static RawPeer tcp(uint16_t port) {
    RawPeer peer(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(peer.descriptor_, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) == 0);
    return peer;
  }
  static RawPeer unix_socket(const std::string& path) {
    RawPeer peer(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof(address.sun_path));
    path.copy(address.sun_path, path.size());
    REQUIRE(::connect(peer.descriptor_, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) == 0);
    return peer;
  }
  RawPeer(RawPeer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~RawPeer() { hang_up(); }

  // False where the other side has closed.
  bool say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  // All until the other side closes; ends the test after 20 s.
  std::string hear() const {
    std::string all;
    while (more(all)) {
    }
    return all;
  }

  // Up to and with `end`.
  std::string hear_until(std::string_view end) const {
    std::string all;
    while (all.find(end) == std::string::npos && more(all)) {
    }
    return all;
  }

  void hang_up() {
    if (descriptor_ >= 0) {
      ::close(std::exchange(descriptor_, -1));
    }
  }

 private:
  explicit RawPeer(int descriptor) : descriptor_(descriptor) { REQUIRE(descriptor >= 0); }

  bool more(std::string& into) const {
    pollfd wait{descriptor_, POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 20'000) == 1);
    char bytes[4096];
    const ssize_t got = ::recv(descriptor_, bytes, sizeof(bytes), 0);
    into.append(bytes, got > 0 ? static_cast<size_t>(got) : 0);
    return got > 0;
  }

  int descriptor_;
};

inline std::string post(const std::string& host, const std::string& body,
                        const std::string& more_headers = "Connection: close\r\n") {
  return "POST /rpc HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\n" +
         more_headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

inline Json solve_params(const std::string& strategy, uint64_t seed = 7) {
  return {{"question", "say ab."}, {"strategy", strategy}, {"seed", seed}};
}

inline Json endless_params(const std::string& run_id) {
  Json params = solve_params("best_of_n:n=8");
  params["max_tokens"] = 4000;
  params["run_id"] = run_id;
  return params;
}

inline std::string line(const std::string& method, const Json& params, int id = 1) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump() + "\n";
}

}  // namespace thinkd::testing
