#pragma once
// Listens: HTTP POST /rpc and WebSocket /rpc/ws on a loopback address, one JSON a line on the
// store's Unix socket (mode 0600). Every request is held against the limits, its Host against the
// loopback names with this port, its Origin against the same (so that no web page reaches the
// daemon).
//
// Owner: whoever made it; the services outlive it. One thread does I/O, a few run the methods (in
// order for each connection); runs have threads of their own. Nothing is promised about order
// between connections. A slow reader of progress is cut, never waited for.

#include <cstdint>
#include <memory>
#include <string>

#include "base/limits.h"
#include "base/status.h"
#include "daemon/rpc/methods.h"

namespace thinkd::daemon {

struct ServerOptions {
  std::string listen = "127.0.0.1:7333";  // host:port, loopback only; port 0: any; "": no TCP
  std::string socket_path;                // Unix socket; "": none. A stale one is replaced.
  // Seconds and sizes after which a peer is cut; the defaults are the daemon's.
  double header_seconds = limits::kHttpHeaderSeconds;
  double body_seconds = limits::kHttpBodySeconds;     // of a write, too
  double idle_seconds = limits::kHttpIdleSeconds;     // of HTTP between requests
  double stall_seconds = limits::kHttpHeaderSeconds;  // a write that stands so long, with a backlog
  uint64_t backlog_bytes = limits::kProgressBacklogBytes;  // idem
  uint64_t burst_bytes = limits::kProgressBurstBytes;      // waiting, however fast the reader
  uint32_t connections = limits::kConnections;
};

class Server {
  class Impl;
  struct Key {};

 public:
  // invalid: an address that is not loopback; conflict: the address or the socket is served by
  // another process; io.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                               const Services& services);
  ~Server();  // stops listening, lets answers that are ready go out for a second, then closes and
              // joins
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void stop_listening();  // and removes the socket; connections go on
  uint16_t port() const;  // 0 where there is no TCP
  uint32_t connections() const;

  Server(Key, std::unique_ptr<Impl> impl);  // by start()

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace thinkd::daemon
