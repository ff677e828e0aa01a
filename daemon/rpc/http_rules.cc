#include "daemon/rpc/http_rules.h"

#include "base/text.h"
#include "daemon/rpc/host_check.h"

namespace thinkd::daemon {
namespace {

std::optional<Refusal> check_peer(const RequestHead& head, uint16_t port) {
  if (head.hosts.size() != 1) {
    return Refusal{400, "exactly one Host header is needed"};
  }
  if (!parse_host_port(head.hosts[0], 0)) {
    return Refusal{400, "the Host header must be host:port"};
  }
  if (!host_allowed(head.hosts[0], port)) {
    return Refusal{421, "Host must be 127.0.0.1, localhost or [::1] with port " +
                            std::to_string(port) + "; `serve --listen` sets it"};
  }
  if (head.origins.size() > 1 || (head.origins.size() == 1 && !origin_allowed(head.origins[0]))) {
    return Refusal{403, "Origin must be a page of this machine's loopback"};
  }
  return std::nullopt;
}

bool is_json(std::string_view content_type) {
  std::string kind(trim(content_type.substr(0, content_type.find(';'))));
  for (char& c : kind) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return kind == "application/json";
}

}  // namespace

std::optional<Refusal> check_request(const RequestHead& head, uint16_t port) {
  if (auto refusal = check_peer(head, port)) {
    return refusal;
  }
  if (head.target == kWebSocketPath) {
    return head.upgrade
               ? std::nullopt
               : std::optional(Refusal{426, "this path speaks WebSocket; POST to /rpc instead"});
  }
  if (head.target != kRpcPath) {
    return Refusal{404, "there is /rpc and /rpc/ws"};
  }
  if (head.method != "POST") {
    return Refusal{405, "POST a JSON-RPC 2.0 request"};
  }
  if (!is_json(head.content_type)) {
    return Refusal{415, "Content-Type must be application/json"};
  }
  return std::nullopt;
}

}  // namespace thinkd::daemon
