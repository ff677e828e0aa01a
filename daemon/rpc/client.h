#pragma once
// A small blocking client of a running daemon, for the command line. One connection a call, closed
// when the call returns; so a call that is given up (its process ends) cancels its run, unless
// detached.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"

namespace thinkd::daemon {

struct Endpoint {
  std::string socket_path;  // the store's Unix socket, or
  std::string host;         // HTTP: POST /rpc, WebSocket /rpc/ws for progress
  uint16_t port = 0;
};

// "http://127.0.0.1:7333", with or without a path of "/" or "/rpc". invalid names what it cannot
// be.
Result<Endpoint> parse_endpoint(std::string_view url);

// The daemon that serves this store; none where no one answers on its socket.
std::optional<Endpoint> running_server(const std::string& store_dir);

// Called with the params of each `progress` notification; empty: not wanted.
using OnProgress = std::function<void(const Json&)>;

// The method's result. A JSON-RPC error comes back as the Status it was made from (invalid for
// -32602); io: no connection, or it broke before the answer.
Result<Json> call(const Endpoint& endpoint, std::string_view method, const Json& params,
                  const OnProgress& on_progress = nullptr);

}  // namespace thinkd::daemon
