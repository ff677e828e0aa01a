#pragma once
// The store's Unix socket: one JSON a line, both ways. Whoever may open the socket (mode 0600) may
// speak. A line past limits::kHttpBodyBytes is refused and ends the connection; so does the end of
// the peer's input. I/O thread only.

#include "daemon/rpc/core.h"

namespace thinkd::daemon {

// Takes the descriptor of an accepted Unix socket.
void serve_lines(ServerCore& core, int descriptor);

}  // namespace thinkd::daemon
