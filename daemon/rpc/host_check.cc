#include "daemon/rpc/host_check.h"

#include <algorithm>

#include "base/text.h"

namespace thinkd::daemon {
namespace {

bool is_host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool is_loopback_v4(std::string_view host) {
  const auto parts = split(host, '.');
  return parts.size() == 4 && parts[0] == "127" &&
         std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           const auto number = parse_uint(part);
           return part.size() <= 3 && number && *number <= 255;
         });
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text, uint16_t default_port) {
  const Status wrong =
      invalid("'" + escape_controls(repair_utf8(text.substr(0, 128))) + "' is not host:port");
  HostPort out{"", default_port};
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return wrong;
    }
    out.host = lower(text.substr(1, end - 1));
    rest = text.substr(end + 1);
    const bool v6 = std::all_of(out.host.begin(), out.host.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.';
    });
    if (!v6 || out.host.find(':') == std::string::npos) {
      return wrong;
    }
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    out.host = lower(text.substr(0, colon));
    rest = text.substr(colon);
    if (out.host.size() > 1 && out.host.ends_with('.')) {
      out.host.pop_back();
    }
    if (out.host.empty() || !std::all_of(out.host.begin(), out.host.end(), is_host_character)) {
      return wrong;
    }
  }
  if (!rest.empty()) {
    const auto port = rest.starts_with(':') ? parse_uint(rest.substr(1)) : std::nullopt;
    if (!port || *port > UINT16_MAX) {
      return wrong;
    }
    out.port = static_cast<uint16_t>(*port);
  }
  return out;
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host == "::1" || is_loopback_v4(host);
}

bool host_allowed(std::string_view host, uint16_t port) {
  constexpr uint16_t kHttpPort = 80;
  const Result<HostPort> parsed = parse_host_port(host, kHttpPort);
  return parsed && parsed->port == port && is_loopback_name(parsed->host);
}

bool origin_allowed(std::string_view origin) {
  const std::string text = lower(origin);
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (text.starts_with(scheme)) {
      const auto parsed = parse_host_port(std::string_view(text).substr(scheme.size()), 0);
      return parsed && is_loopback_name(parsed->host);
    }
  }
  return false;
}

}  // namespace thinkd::daemon
