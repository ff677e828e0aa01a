#pragma once
// Which requests are taken, decided on their header alone; the path is matched as it came, nothing
// is rebuilt from Host. Pure, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd::daemon {

inline constexpr std::string_view kRpcPath = "/rpc";
inline constexpr std::string_view kWebSocketPath = "/rpc/ws";

struct RequestHead {
  std::string_view method;
  std::string_view target;
  std::string_view content_type;
  std::vector<std::string_view> hosts;    // of each Host header
  std::vector<std::string_view> origins;  // of each Origin header
  bool upgrade = false;                   // asks for a WebSocket
};

struct Refusal {
  unsigned status = 0;  // HTTP's
  std::string text;     // one line
};

// None where the request is taken by the server on `port`.
std::optional<Refusal> check_request(const RequestHead& head, uint16_t port);

}  // namespace thinkd::daemon
