#pragma once
// JSON-RPC 2.0 without a transport: one text in, one text (or none, for notifications) out. Text is
// read strictly (base/json.h): what a proxy might read differently is refused, never guessed.
//
// Ids are texts, 64-bit integers or null, echoed as they came; an id in flight on a channel is
// refused a second time. `params: null` counts as absent. Members of the envelope that JSON-RPC
// does not name are ignored. Source: https://www.jsonrpc.org/specification (2013-01-04).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"

namespace thinkd::daemon {

enum class RpcCode : int32_t {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
  not_found = 1001,
  limit = 1002,
  conflict = 1003,     // run_id used for another request, a model that is not loaded, a run at work
  unavailable = 1004,  // shutting down, or a capability that this server lacks
  interrupted = 1005,  // the run was stopped by the server's end; it can be resumed
  io = 1006,
  corrupt = 1007,
};

struct RpcError {
  RpcCode code = RpcCode::internal;
  std::string message;
  std::string param;        // data.param: the parameter at fault; "" for none
  std::string limit;        // data.limit: what would be right; "" for none
  std::string correlation;  // data.correlation: under which the log has the details; "" for none
};

// The table from Status codes to ours. An internal error keeps its details for the log: the caller
// gets a number to quote (data.correlation).
RpcError rpc_error(const Status& status);

// A whole reply with `id: null`; for transports that must refuse a text unread.
std::string rpc_refusal(const RpcError& error);
// A whole notification; `params` is JSON text.
std::string rpc_notification(std::string_view method, std::string_view params);

struct RpcOutcome {
  std::string result;  // JSON text, where there is no error
  std::optional<RpcError> error;
};
RpcOutcome rpc_failure(const Status& status);

using RpcDone = std::function<void(RpcOutcome)>;

// What answers the calls of a channel.
class RpcHandler {
 public:
  virtual ~RpcHandler() = default;
  virtual bool knows(std::string_view method) const = 0;
  // `params` is an object, an array or null. `done` is called exactly once, on any thread, perhaps
  // before this returns. May block.
  virtual void call(const std::string& method, const Json& params, RpcDone done) = 0;
};

// One connection's conversation. receive() is called by one thread at a time; replies come on any.
class RpcChannel {
 public:
  using Reply = std::function<void(std::string)>;

  explicit RpcChannel(RpcHandler& handler);  // outlives the channel's last reply
  ~RpcChannel();

  // `reply` is called exactly once, with "" where nothing is to be sent.
  void receive(std::string_view text, Reply reply);

 private:
  class Batch;
  struct InFlight;
  void take(const Json& item, const std::shared_ptr<Batch>& batch, size_t slot);

  RpcHandler& handler_;
  std::shared_ptr<InFlight> in_flight_;
};

}  // namespace thinkd::daemon
