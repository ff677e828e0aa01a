// What a peer may send: a JSON-RPC line, the members of solve, a strategy, a budget, a Host header.

#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "base/log.h"
#include "daemon/rpc/host_check.h"
#include "daemon/rpc/json_rpc.h"
#include "search/request.h"
#include "tests/fuzz/target.h"

using namespace thinkd;

namespace {

class Echo final : public daemon::RpcHandler {
 public:
  bool knows(std::string_view method) const override { return method != "unknown"; }
  void call(const std::string&, const Json& params, daemon::RpcDone done) override {
    const auto request = search::request_from_json(params);
    done(request ? daemon::RpcOutcome{to_text(params), {}} : daemon::rpc_failure(request.status()));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  set_log_level(LogLevel::error);
  const std::string_view text = fuzz::text_of(data, size);
  Echo echo;
  daemon::RpcChannel channel(echo);
  int replies = 0;
  channel.receive(text, [&](const std::string& reply) {
    ++replies;
    fuzz::expect(reply.empty() || parse_json(reply).ok(), "a reply is JSON");
  });
  fuzz::expect(replies == 1, "one reply a message");
  if (const auto json = parse_json(text)) {
    const auto again = parse_json(to_text(*json));
    fuzz::expect(again && *again == *json, "what is written reads back equal");
    static_cast<void>(search::request_from_json(*json));
  }
  if (const auto spec = search::parse_strategy(text)) {
    const auto again = search::parse_strategy(search::strategy_text(*spec));
    fuzz::expect(again.ok() && search::strategy_text(*again) == search::strategy_text(*spec),
                 "a strategy's text is a strategy");
  }
  static_cast<void>(search::parse_budget(text));
  static_cast<void>(daemon::parse_host_port(text, 80));
  static_cast<void>(daemon::host_allowed(text, 7333));
  static_cast<void>(daemon::origin_allowed(text));
  return 0;
}
