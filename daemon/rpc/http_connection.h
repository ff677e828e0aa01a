#pragma once
// HTTP/1.1 on loopback: POST /rpc is one JSON-RPC text, GET /rpc/ws with an upgrade becomes a
// WebSocket. What is refused gets a status and a line of plain text, before its body is read:
//   400 not HTTP, no Host, a Host that is no host:port    403 Origin not loopback
//   404 another path      405 another method              408 too slow
//   413 body too large    415 content that is not JSON    421 Host is not this server's
//   431 header too large
// A client that closes (or half-closes) while its call is at work has gone. I/O thread only.

#include "daemon/rpc/core.h"

namespace thinkd::daemon {

// Takes the descriptor of an accepted TCP socket.
void serve_http(ServerCore& core, int descriptor, bool v6);

}  // namespace thinkd::daemon
