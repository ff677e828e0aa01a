#include "daemon/rpc/json_rpc.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/entropy.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"

namespace thinkd::daemon {
namespace {

RpcCode code_of(Code code) {
  switch (code) {
    case Code::invalid:
      return RpcCode::invalid_params;
    case Code::not_found:
      return RpcCode::not_found;
    case Code::limit:
      return RpcCode::limit;
    case Code::corrupt:
      return RpcCode::corrupt;
    case Code::io:
      return RpcCode::io;
    case Code::cancelled:
      return RpcCode::interrupted;
    case Code::conflict:
      return RpcCode::conflict;
    case Code::unavailable:
      return RpcCode::unavailable;
    case Code::ok:
    case Code::internal:
      break;
  }
  return RpcCode::internal;
}

// What the message says would be right.
std::string limit_in(std::string_view message) {
  for (const std::string_view lead : {"must be ", "at most ", "the pool has ", "known are "}) {
    if (const size_t at = message.find(lead); at != std::string_view::npos) {
      return std::string(message.substr(at + lead.size()));
    }
  }
  return {};
}

std::string failure(std::string_view id, const RpcError& error) {
  OrderedJson body = {{"code", static_cast<int32_t>(error.code)}, {"message", error.message}};
  OrderedJson data;
  for (const auto& [name, text] : {std::pair{"param", &error.param},
                                   {"limit", &error.limit},
                                   {"correlation", &error.correlation}}) {
    if (!text->empty()) {
      data[name] = *text;
    }
  }
  if (!data.is_null()) {
    body["data"] = std::move(data);
  }
  return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(id) + ",\"error\":" + to_text(body) + "}";
}

RpcError invalid_request(std::string message) {
  return {RpcCode::invalid_request, std::move(message), "", "", ""};
}

bool may_be_id(const Json& id) { return id.is_null() || id.is_string() || id.is_number_integer(); }

}  // namespace

RpcError rpc_error(const Status& status) {
  if (status.code() == Code::internal || status.ok()) {
    const std::string correlation = draw_hex(8);
    log_error("internal error " + correlation + ": " + status.message());
    return {RpcCode::internal, "internal error; the log says more under " + correlation, "", "",
            correlation};
  }
  return {code_of(status.code()), status.message(), "", limit_in(status.message()), ""};
}

std::string rpc_refusal(const RpcError& error) { return failure("null", error); }

std::string rpc_notification(std::string_view method, std::string_view params) {
  return "{\"jsonrpc\":\"2.0\",\"method\":\"" + std::string(method) +
         "\",\"params\":" + std::string(params) + "}";
}

RpcOutcome rpc_failure(const Status& status) { return {"", rpc_error(status)}; }

// The ids that were asked with and not answered yet, as JSON text: 1 and "1" are two ids.
struct RpcChannel::InFlight {
  std::mutex lock;
  std::set<std::string> ids;  // lock

  bool enter(const std::string& id) {
    const std::lock_guard guard(lock);
    return ids.insert(id).second;
  }
  void leave(const std::string& id) {
    const std::lock_guard guard(lock);
    ids.erase(id);
  }
};

// What came in one text: its reply goes out when the last slot is filled.
class RpcChannel::Batch {
 public:
  Batch(size_t slots, bool array, Reply reply)
      : replies_(slots), missing_(slots), array_(array), reply_(std::move(reply)) {}

  void fill(size_t slot, std::string text) {
    {
      const std::lock_guard guard(lock_);
      replies_[slot] = std::move(text);
      if (--missing_ > 0) {
        return;
      }
    }
    reply_(joined());
  }

 private:
  std::string joined() const {
    std::string all;
    for (const std::string& reply : replies_) {
      if (!reply.empty()) {
        all += all.empty() ? "" : ",";
        all += reply;
      }
    }
    return array_ && !all.empty() ? "[" + all + "]" : all;
  }

  std::mutex lock_;
  std::vector<std::string> replies_;  // lock_, until none is missing
  size_t missing_;                    // lock_
  const bool array_;
  const Reply reply_;
};

RpcChannel::RpcChannel(RpcHandler& handler)
    : handler_(handler), in_flight_(std::make_shared<InFlight>()) {}
RpcChannel::~RpcChannel() = default;

void RpcChannel::receive(std::string_view text, Reply reply) {
  const Result<Json> parsed = parse_json(text);
  if (!parsed) {
    const bool no_json = parsed.status().code() == Code::corrupt;
    RpcError error = invalid_request(parsed.status().message());
    error.code = no_json ? RpcCode::parse_error : RpcCode::invalid_request;
    reply(rpc_refusal(error));
    return;
  }
  if (!parsed->is_array()) {
    take(*parsed, std::make_shared<Batch>(1, false, std::move(reply)), 0);
    return;
  }
  if (parsed->empty()) {
    reply(rpc_refusal(invalid_request("the batch is empty")));
    return;
  }
  if (parsed->size() > limits::kRpcBatchItems) {
    RpcError error = invalid_request("the batch has " + std::to_string(parsed->size()) +
                                     " items; at most " + std::to_string(limits::kRpcBatchItems));
    error.limit = std::to_string(limits::kRpcBatchItems);
    reply(rpc_refusal(error));
    return;
  }
  const auto batch = std::make_shared<Batch>(parsed->size(), true, std::move(reply));
  for (size_t i = 0; i < parsed->size(); ++i) {
    take((*parsed)[i], batch, i);
  }
}

void RpcChannel::take(const Json& item, const std::shared_ptr<Batch>& batch, size_t slot) {
  std::string id = "null";
  const auto refuse = [&](const RpcError& error) { batch->fill(slot, failure(id, error)); };
  if (!item.is_object()) {
    return refuse(invalid_request("a request must be an object"));
  }
  const auto given_id = item.find("id");
  const bool notification = given_id == item.end();
  if (!notification) {
    if (!may_be_id(*given_id)) {
      return refuse(invalid_request("id must be text, an integer of 64 bits or null"));
    }
    id = to_text(*given_id);
  }
  const auto version = item.find("jsonrpc");
  if (version == item.end() || *version != "2.0") {
    return refuse(invalid_request("jsonrpc must be \"2.0\""));
  }
  const auto named = item.find("method");
  if (named == item.end() || !named->is_string()) {
    return refuse(invalid_request("method must be text"));
  }
  const std::string method = named->get<std::string>();
  const auto given = item.find("params");
  const Json params = given == item.end() ? Json() : *given;
  const bool structured = params.is_null() || params.is_structured();
  const bool known = handler_.knows(method);

  if (notification) {
    batch->fill(slot, "");
    if (known && structured) {
      try {
        handler_.call(method, params, [](const RpcOutcome&) {});
      } catch (const std::exception& error) {
        log_error("notification " + method + ": " + error.what());
      }
    }
    return;
  }
  if (!structured) {
    return refuse(invalid_request("params must be an object"));
  }
  if (!known) {
    constexpr size_t kShown = 64;
    return refuse({RpcCode::method_not_found,
                   "there is no method " + to_text(Json(repair_utf8(method.substr(0, kShown)))), "",
                   "", ""});
  }
  const bool tracked = !given_id->is_null();
  if (tracked && !in_flight_->enter(id)) {
    return refuse(invalid_request("id " + id + " is in flight"));
  }
  const auto once = std::make_shared<std::atomic<bool>>(false);
  const RpcDone done = [batch, slot, id, tracked, once,
                        in_flight = in_flight_](const RpcOutcome& outcome) {
    if (once->exchange(true)) {
      return;
    }
    if (tracked) {
      in_flight->leave(id);
    }
    batch->fill(slot, outcome.error ? failure(id, *outcome.error)
                                    : "{\"jsonrpc\":\"2.0\",\"id\":" + id +
                                          ",\"result\":" + outcome.result + "}");
  };
  try {
    handler_.call(method, params, done);
  } catch (const std::exception& error) {
    done(rpc_failure(internal_error(method + ": " + error.what())));
  }
}

}  // namespace thinkd::daemon
