#pragma once
// One WebSocket client: a JSON-RPC message each way, with progress. Internal to daemon/rpc.

#include <string>

#include "daemon/rpc/core.h"

namespace thinkd::daemon {

// Goes on with an HTTP connection whose request to upgrade was checked: `descriptor` is taken over,
// `head` is what that request said of the upgrade and what was read behind it. I/O thread only.
void serve_websocket(ServerCore& core, int descriptor, bool v6, std::string head);

}  // namespace thinkd::daemon
