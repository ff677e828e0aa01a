#pragma once
// Who may speak to a server that listens on loopback: a web page that makes its own name resolve to
// 127.0.0.1 still sends that name as Host, and its own origin. Both are held against the loopback
// names. Pure functions, any thread.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd::daemon {

struct HostPort {
  std::string host;  // lower case, without brackets and without a trailing dot
  uint16_t port = 0;
};

// "host:port", "[v6]:port"; the port may be missing, then it is `default_port`. invalid where it is
// anything else: a Host header is never taken for more than this.
Result<HostPort> parse_host_port(std::string_view text, uint16_t default_port);

// localhost, 127.x.y.z, ::1.
bool is_loopback_name(std::string_view host);

// The Host header of a request to the server on `port`.
bool host_allowed(std::string_view host, uint16_t port);

// The Origin header: http or https and a loopback name, any port. "null" is refused.
bool origin_allowed(std::string_view origin);

}  // namespace thinkd::daemon
