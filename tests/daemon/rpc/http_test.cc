// HTTP as strangers speak it: who is let in, what is refused with which status, what is cut.

#include <sys/stat.h>

#include "base/limits.h"
#include "tests/daemon/rpc/fixture.h"

using namespace thinkd;
using namespace thinkd::testing;

namespace {

const std::string kStatusCall = R"({"jsonrpc":"2.0","method":"server.status","id":1})";

std::string status_line(const std::string& response) {
  return response.substr(0, response.find("\r\n"));
}

std::string ask(const Served& served, const std::string& bytes) {
  RawPeer peer = RawPeer::tcp(served.server->port());
  peer.say(bytes);
  return peer.hear();
}

}  // namespace

TEST_CASE("a WebSocket message that comes together with the request to upgrade is answered") {
  Served served;
  RawPeer peer = RawPeer::tcp(served.server->port());
  const std::string masked = {'\x81', static_cast<char>(0x80 | kStatusCall.size()), 0, 0, 0, 0};
  REQUIRE(peer.say("GET /rpc/ws HTTP/1.1\r\nHost: " + served.host() +
                   "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                   "\r\n" +
                   masked + kStatusCall));
  CHECK_THAT(peer.hear_until("\"result\""), Contains("101 Switching") && Contains("\"id\":1"));
}

TEST_CASE(
    "a request to upgrade may carry a large header; whatever comes behind it, it is answered") {
  Served served;
  const std::string upgrade =
      "GET /rpc/ws HTTP/1.1\r\nHost: " + served.host() +
      "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
  RawPeer cookies = RawPeer::tcp(served.server->port());
  REQUIRE(cookies.say(upgrade + "Cookie: " + std::string(6000, 'c') + "\r\n\r\n"));
  CHECK_THAT(cookies.hear_until("\r\n\r\n"), Contains("101 Switching"));
  // How much of it is read with the header is the network's: 101, or 400 where that is too much.
  CHECK_THAT(status_line(ask(served, upgrade + "\r\n" + std::string(3000, 'x'))),
             Contains("HTTP/1.1 "));
}

TEST_CASE("who is let in") {
  Served served;
  const std::string port = ":" + std::to_string(served.server->port());
  const auto with = [&](const std::string& headers) {
    return status_line(ask(served, "POST /rpc HTTP/1.1\r\n" + headers +
                                       "Content-Type: application/json\r\nConnection: close\r\n"
                                       "Content-Length: " +
                                       std::to_string(kStatusCall.size()) + "\r\n\r\n" +
                                       kStatusCall));
  };
  for (const char* host : {"127.0.0.1", "localhost", "LocalHost.", "[::1]"}) {
    INFO(host);
    CHECK_THAT(with("Host: " + (host + port) + "\r\n"), Contains(" 200 "));
  }
  CHECK_THAT(with(""), Contains(" 400 "));
  CHECK_THAT(with("Host: localhost\r\n"), Contains(" 421 "));
  CHECK_THAT(with("Host: evil.example" + port + "\r\n"), Contains(" 421 "));
  CHECK_THAT(with("Host: localhost/v1/models?\r\n"), Contains(" 400 "));
  CHECK_THAT(with("Host: localhost" + port + "\r\nHost: evil.example\r\n"), Contains(" 400 "));
  const std::string good = "Host: localhost" + port + "\r\n";
  CHECK_THAT(with(good + "Origin: http://localhost" + port + "\r\n"), Contains(" 200 "));
  CHECK_THAT(with(good + "Origin: http://evil.example\r\n"), Contains(" 403 "));
  CHECK_THAT(with(good + "Origin: null\r\n"), Contains(" 403 "));
}

TEST_CASE("what is refused, and with which status") {
  Served served;
  const std::string host = "Host: " + served.host() + "\r\n";
  const auto answer = [&](const std::string& bytes) { return status_line(ask(served, bytes)); };
  CHECK_THAT(answer("GET / HTTP/1.1\r\n" + host + "\r\n"), Contains(" 404 "));
  CHECK_THAT(answer("GET /rpc?x HTTP/1.1\r\n" + host + "\r\n"), Contains(" 404 "));
  CHECK_THAT(answer("POST http://evil/rpc HTTP/1.1\r\n" + host + "\r\n"), Contains(" 404 "));
  CHECK_THAT(answer("GET /rpc HTTP/1.1\r\n" + host + "\r\n"), Contains(" 405 "));
  CHECK_THAT(answer("GET /rpc/ws HTTP/1.1\r\n" + host + "\r\n"), Contains(" 426 "));
  CHECK_THAT(answer("POST /rpc HTTP/1.1\r\n" + host + "Content-Type: text/plain\r\n\r\n"),
             Contains(" 415 "));
  CHECK_THAT(answer("POST /rpc HTTP/1.1\r\n" + host + "\r\n"), Contains(" 415 "));
  CHECK_THAT(answer("\x16\x03\x01 nonsense\r\n\r\n"), Contains(" 400 "));
  CHECK_THAT(answer("POST /rpc HTTP/1.1\r\nHost\r\n\r\n"), Contains(" 400 "));
  CHECK_THAT(answer("POST /rpc HTTP/1.1\r\n" + host +
                    "X: " + std::string(limits::kHttpHeaderBytes, 'x') + "\r\n\r\n"),
             Contains(" 431 "));
  const std::string json = host + "Content-Type: application/json; charset=utf-8\r\n";
  CHECK_THAT(answer("POST /rpc HTTP/1.1\r\n" + json +
                    "Content-Length: " + std::to_string(limits::kHttpBodyBytes + 1) + "\r\n\r\n"),
             Contains(" 413 "));
  CHECK_THAT(
      answer("POST /rpc HTTP/1.1\r\n" + json + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"),
      Contains(" 400 "));
  // A body whose length nobody announced.
  std::string chunked = "POST /rpc HTTP/1.1\r\n" + json + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 5; ++i) {
    chunked += "100000\r\n" + std::string(1 << 20, ' ') + "\r\n";
  }
  CHECK_THAT(answer(chunked), Contains(" 413 "));
  CHECK_THAT(answer(post(served.host(), "{")), Contains(" 200 "));
  CHECK_THAT(ask(served, post(served.host(), "{")), Contains("-32700"));
  CHECK_THAT(answer(post(served.host(), R"({"jsonrpc":"2.0","method":"foobar"})")),
             Contains(" 204 "));
  CHECK(served.until_connections(0));
}

TEST_CASE("a connection is kept for the next request") {
  Served served;
  RawPeer peer = RawPeer::tcp(served.server->port());
  const std::string call = post(served.host(), kStatusCall, "");
  for (int i = 0; i < 3; ++i) {
    REQUIRE(peer.say(call));
    CHECK_THAT(peer.hear_until("}}"), Contains("pages_total"));
  }
  // Two at once: answered in order.
  REQUIRE(peer.say(call + post(served.host(), R"({"jsonrpc":"2.0","method":"x","id":2})")));
  const std::string both = peer.hear();
  CHECK(both.find("pages_total") < both.find("-32601"));
  CHECK_THAT(both, Contains("-32601"));
}

TEST_CASE("who is slow is cut") {
  daemon::ServerOptions options;
  options.header_seconds = 0.05;
  options.body_seconds = 0.05;
  options.idle_seconds = 0.05;
  Served served(options);
  RawPeer silent = RawPeer::tcp(served.server->port());
  CHECK(silent.hear().empty());
  CHECK_THAT(ask(served, "POST /rpc HTT"), Contains(" 408 "));
  RawPeer half = RawPeer::tcp(served.server->port());
  const std::string call = post(served.host(), kStatusCall, "");
  REQUIRE(half.say(call.substr(0, call.size() - 4)));
  half.hear();  // it ends
  RawPeer idle = RawPeer::tcp(served.server->port());
  REQUIRE(idle.say(call));
  CHECK_THAT(idle.hear(), Contains(" 200 "));  // and it ends
}

TEST_CASE("connections are counted") {
  daemon::ServerOptions options;
  options.connections = 2;
  Served served(options);
  RawPeer first = RawPeer::tcp(served.server->port());
  RawPeer second = RawPeer::unix_socket(served.options.socket_path);
  const std::string call = post(served.host(), kStatusCall, "");
  REQUIRE(first.say(call));
  REQUIRE(second.say(line("server.status", Json::object())));
  CHECK_THAT(first.hear_until("}}"), Contains("pages_total"));
  CHECK_THAT(second.hear_until("\n"), Contains("pages_total"));
  CHECK(RawPeer::tcp(served.server->port()).hear().empty());
  first.hang_up();
  bool again = false;
  for (int tries = 0; tries < 2000 && !again; ++tries) {
    again = daemon::call(served.http(), "server.status", Json()).ok();
  }
  CHECK(again);
}

TEST_CASE("where it listens") {
  Served served;
  const auto refusal = [&](const std::string& listen) {
    daemon::ServerOptions options;
    options.listen = listen;
    const auto started = daemon::Server::start(options, served.services);
    REQUIRE_FALSE(started.ok());
    return started.status().message();
  };
  CHECK_THAT(refusal("0.0.0.0:7333"), Contains("loopback"));
  CHECK_THAT(refusal("192.168.1.1:7333"), Contains("loopback"));
  CHECK_THAT(refusal("example.org:80"), Contains("loopback"));
  CHECK_THAT(refusal("[::]:80"), Contains("loopback"));
  CHECK_THAT(refusal("7333"), Contains("host:port"));
  CHECK_THAT(refusal("localhost:70000"), Contains("host:port"));
  CHECK_THAT(refusal(served.host()), Contains("listen"));  // taken

  struct stat info{};
  REQUIRE(stat(served.options.socket_path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  daemon::ServerOptions same;
  same.listen = "";
  same.socket_path = served.options.socket_path;
  CHECK(daemon::Server::start(same, served.services).status().code() == Code::conflict);
  CHECK(daemon::running_server(served.scratch.path()).has_value());
  served.server.reset();
  CHECK_FALSE(daemon::running_server(served.scratch.path()).has_value());

  // What a killed daemon leaves: a socket file that nobody answers on.
  const int left = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  same.socket_path.copy(address.sun_path, same.socket_path.size());
  REQUIRE(::bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  ::close(left);
  CHECK_FALSE(daemon::running_server(served.scratch.path()).has_value());
  const auto again = daemon::Server::start(same, served.services);
  REQUIRE(again.ok());
  CHECK(daemon::call(served.socket(), "server.status", Json()).ok());
}
