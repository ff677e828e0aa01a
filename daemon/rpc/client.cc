#include "daemon/rpc/client.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "daemon/rpc/host_check.h"
#include "daemon/rpc/json_rpc.h"
#include "memory/paths.h"

namespace thinkd::daemon {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::ip::tcp;
using asio::local::stream_protocol;
using boost::system::error_code;

constexpr int kCallId = 1;

Code code_of(int64_t code) {
  switch (static_cast<RpcCode>(code)) {
    case RpcCode::invalid_params:
    case RpcCode::invalid_request:
    case RpcCode::method_not_found:
    case RpcCode::parse_error:
      return Code::invalid;
    case RpcCode::not_found:
      return Code::not_found;
    case RpcCode::limit:
      return Code::limit;
    case RpcCode::conflict:
      return Code::conflict;
    case RpcCode::unavailable:
      return Code::unavailable;
    case RpcCode::interrupted:
      return Code::cancelled;
    case RpcCode::io:
      return Code::io;
    case RpcCode::corrupt:
      return Code::corrupt;
    case RpcCode::internal:
      break;
  }
  return Code::internal;
}

std::string request_text(std::string_view method, const Json& params) {
  OrderedJson request = {{"jsonrpc", "2.0"}, {"id", kCallId}, {"method", std::string(method)}};
  if (!params.is_null()) {
    request["params"] = OrderedJson::parse(to_text(params), nullptr, false);
  }
  return to_text(request);
}

// One text from the daemon: the answer, or none where it was progress.
std::optional<Result<Json>> take(std::string_view text, const OnProgress& on_progress) {
  // Our own daemon's words may be larger than what it takes from others.
  Json message = Json::parse(text, nullptr, false);
  if (!message.is_object()) {
    return Result<Json>(corrupt("the daemon sent no JSON object"));
  }
  if (message.contains("method")) {
    if (on_progress && message["method"] == "progress" && message.contains("params")) {
      on_progress(message["params"]);
    }
    return std::nullopt;
  }
  if (const auto error = message.find("error"); error != message.end()) {
    if (!error->is_object()) {
      return Result<Json>(corrupt("the daemon sent an error that is no object"));
    }
    const auto code = error->find("code");
    const auto said = error->find("message");
    return Result<Json>(Status(
        code_of(code != error->end() && code->is_number_integer() ? code->get<int64_t>() : 0),
        said != error->end() && said->is_string() ? said->get<std::string>()
                                                  : "the daemon refused"));
  }
  if (!message.contains("result")) {
    return Result<Json>(corrupt("the daemon sent neither result nor error"));
  }
  return Result<Json>(std::move(message["result"]));
}

Status broken(const std::string& where, const error_code& error) {
  return io_error("the daemon at " + where + ": " + error.message());
}

Result<Json> call_socket(const Endpoint& endpoint, const std::string& request,
                         const OnProgress& on_progress) {
  asio::io_context io;
  stream_protocol::socket socket(io);
  error_code error;
  socket.connect(stream_protocol::endpoint(endpoint.socket_path), error);
  if (!error) {
    asio::write(socket, asio::buffer(request + "\n"), error);
  }
  std::string input;
  while (!error) {
    const size_t bytes =
        asio::read_until(socket, asio::dynamic_buffer(input, limits::kRpcReplyBytes), '\n', error);
    if (error) {
      break;
    }
    const std::string line = input.substr(0, bytes);
    input.erase(0, bytes);
    if (auto answer = take(line, on_progress)) {
      return *std::move(answer);
    }
  }
  return broken(endpoint.socket_path, error);
}

std::string host_of(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return (v6 ? "[" + endpoint.host + "]" : endpoint.host) + ":" + std::to_string(endpoint.port);
}

error_code connect(tcp::socket& socket, const Endpoint& endpoint) {
  error_code error;
  const auto address =
      asio::ip::make_address(endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host, error);
  if (!error) {
    socket.connect(tcp::endpoint(address, endpoint.port), error);
  }
  if (!error) {
    socket.set_option(tcp::no_delay(true), error);
  }
  return error;
}

Result<Json> call_http(const Endpoint& endpoint, const std::string& text) {
  asio::io_context io;
  tcp::socket socket(io);
  error_code error = connect(socket, endpoint);
  http::request<http::string_body> request(http::verb::post, "/rpc", 11);
  request.set(http::field::host, host_of(endpoint));
  request.set(http::field::content_type, "application/json");
  request.keep_alive(false);
  request.body() = text;
  request.prepare_payload();
  if (!error) {
    http::write(socket, request, error);
  }
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(limits::kRpcReplyBytes);
  if (!error) {
    http::read(socket, buffer, parser, error);
  }
  if (error) {
    return broken(host_of(endpoint), error);
  }
  if (parser.get().result() != http::status::ok) {
    return io_error("the daemon at " + host_of(endpoint) + " answered " +
                    std::to_string(parser.get().result_int()) + ": " + parser.get().body());
  }
  auto answer = take(parser.get().body(), nullptr);
  return answer ? *std::move(answer) : corrupt("the daemon sent a notification as its answer");
}

Result<Json> call_web_socket(const Endpoint& endpoint, const std::string& text,
                             const OnProgress& on_progress) {
  asio::io_context io;
  websocket::stream<tcp::socket> stream(io);
  error_code error = connect(stream.next_layer(), endpoint);
  if (!error) {
    stream.handshake(host_of(endpoint), "/rpc/ws", error);
  }
  stream.read_message_max(limits::kRpcReplyBytes);
  if (!error) {
    stream.write(asio::buffer(text), error);
  }
  while (!error) {
    beast::flat_buffer buffer;
    stream.read(buffer, error);
    if (error) {
      break;
    }
    if (auto answer = take(beast::buffers_to_string(buffer.data()), on_progress)) {
      error_code ignored;
      stream.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
      return *std::move(answer);
    }
  }
  return broken(host_of(endpoint), error);
}

}  // namespace

Result<Endpoint> parse_endpoint(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const Status wrong =
      invalid("server: '" + std::string(url) + "' must be http://HOST:PORT on loopback");
  if (!url.starts_with(kScheme)) {
    return wrong;
  }
  std::string_view rest = url.substr(kScheme.size());
  for (const std::string_view path : {"/rpc", "/"}) {
    if (rest.ends_with(path)) {
      rest.remove_suffix(path.size());
      break;
    }
  }
  const Result<HostPort> parsed = parse_host_port(rest, 80);
  if (!parsed || !is_loopback_name(parsed->host)) {
    return wrong;
  }
  return Endpoint{"", parsed->host, parsed->port};
}

std::optional<Endpoint> running_server(const std::string& store_dir) {
  const std::string path = memory::socket_path(store_dir);
  if (path.size() > limits::kSocketPathBytes) {
    return std::nullopt;
  }
  asio::io_context io;
  stream_protocol::socket socket(io);
  error_code error;
  socket.connect(stream_protocol::endpoint(path), error);
  return error ? std::nullopt : std::optional(Endpoint{path, "", 0});
}

Result<Json> call(const Endpoint& endpoint, std::string_view method, const Json& params,
                  const OnProgress& on_progress) {
  const std::string request = request_text(method, params);
  if (!endpoint.socket_path.empty()) {
    return call_socket(endpoint, request, on_progress);
  }
  return on_progress ? call_web_socket(endpoint, request, on_progress)
                     : call_http(endpoint, request);
}

}  // namespace thinkd::daemon
