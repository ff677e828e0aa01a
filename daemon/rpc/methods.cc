#include "daemon/rpc/methods.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "daemon/rpc/method_table.h"
#include "search/request.h"

namespace thinkd::daemon {
namespace {

// The member of `solve` that a refusal speaks of: it leads the message, or is quoted as unknown, or
// is known by what the refusal is about.
std::string param_of(std::string_view message, bool admission) {
  size_t end = 0;
  while (end < message.size() &&
         (message[end] == '_' || (message[end] >= 'a' && message[end] <= 'z'))) {
    ++end;
  }
  const std::string first(message.substr(0, end));
  constexpr std::string_view kMembers[] = {
      "question",    "messages", "system",   "task",     "numbers",
      "target",      "use",      "strategy", "budget",   "verifier",
      "temperature", "top_p",    "min_p",    "top_k",    "repetition_penalty",
      "max_tokens",  "stop",     "seed",     "run_id",   "problem_id",
      "sample",      "detach",   "trace",    "priority", "model"};
  if (std::find(std::begin(kMembers), std::end(kMembers), first) != std::end(kMembers)) {
    return first;
  }
  constexpr std::string_view kUnknown = "unknown member \"";
  if (const size_t at = message.find(kUnknown); at != std::string_view::npos) {
    const std::string_view rest = message.substr(at + kUnknown.size());
    return std::string(rest.substr(0, rest.find('"')));
  }
  if (!admission) {
    return {};
  }
  const bool judge = message.find("verifier") != std::string_view::npos ||
                     message.find("grader") != std::string_view::npos;
  return judge ? "verifier" : "strategy";
}

// A strategy or a verifier that does not exist is a wrong parameter, not a missing thing.
RpcOutcome refused(const Status& status, bool admission) {
  RpcError error = rpc_error(status);
  if (status.code() == Code::not_found) {
    error.code = RpcCode::invalid_params;
  }
  if (status.code() == Code::invalid || status.code() == Code::not_found ||
      status.code() == Code::limit) {
    error.param = param_of(status.message(), admission);
  }
  return {"", std::move(error)};
}

// Whose turn it is is over when this goes.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& taken) : taken_(taken) {}
  ~Turn() { taken_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& taken_;
};

}  // namespace

void Callers::enter(const std::string& run_id) {
  const std::lock_guard guard(lock_);
  ++waiting_[run_id].callers;
}

bool Callers::leave(const std::string& run_id, bool gone) {
  const std::lock_guard guard(lock_);
  const auto found = waiting_.find(run_id);
  if (found == waiting_.end()) {
    return false;
  }
  found->second.abandoned |= gone;
  if (--found->second.callers > 0) {
    return false;
  }
  const bool abandoned = found->second.abandoned;
  waiting_.erase(found);
  return abandoned;
}

// What a run's callbacks hold of a connection: it may be gone before they come. No lock is held
// while Runs is called, since observers come with a run's lock held.
struct Methods::Link {
  search::Runs& runs;
  const std::shared_ptr<Callers> callers;
  std::mutex lock;
  Notify notify;                      // lock
  bool gone = false;                  // lock
  std::multiset<std::string> waited;  // lock: runs that this connection keeps alive

  Link(search::Runs& all_runs, std::shared_ptr<Callers> all_callers, Notify to)
      : runs(all_runs), callers(std::move(all_callers)), notify(std::move(to)) {}

  void tell(const std::string& run_id, const search::Event& event) {
    const std::lock_guard guard(lock);
    if (!notify) {
      return;
    }
    OrderedJson params = {{"run_id", run_id}};
    params.update(search::to_json(event));
    notify(rpc_notification("progress", to_text(params)));
  }

  // The run that this connection entered for was admitted.
  void started(const std::string& run_id) {
    {
      const std::lock_guard guard(lock);
      if (!gone) {
        waited.insert(run_id);
        return;
      }
    }
    give_up(run_id, true);
  }

  void answered(const std::string& run_id) {
    {
      const std::lock_guard guard(lock);
      const auto found = waited.find(run_id);
      if (found == waited.end()) {
        return;
      }
      waited.erase(found);
    }
    give_up(run_id, false);
  }

  void give_up(const std::string& run_id, bool connection_gone) {
    if (callers->leave(run_id, connection_gone)) {
      (void)runs.cancel(run_id);
    }
  }

  void leave() {
    std::multiset<std::string> left;
    {
      const std::lock_guard guard(lock);
      gone = true;
      notify = nullptr;
      left = std::exchange(waited, {});
    }
    for (const std::string& run_id : left) {
      give_up(run_id, true);
    }
  }
};

Methods::Methods(const Services& services, std::shared_ptr<Callers> callers, Notify notify)
    : services_(services),
      callers_(std::move(callers)),
      link_(std::make_shared<Link>(services.runs, callers_, std::move(notify))) {}

Methods::~Methods() { leave(); }

void Methods::leave() { link_->leave(); }

bool Methods::knows(std::string_view method) const { return find_method(method) != nullptr; }

void Methods::call(const std::string& method, const Json& params, RpcDone done) {
  const MethodEntry& entry = *find_method(method);
  const Json named = params.is_null() ? Json::object() : params;
  if (!named.is_object()) {
    return done(
        rpc_failure(invalid("params must be an object; " + method + " takes them by name")));
  }
  if (method == "solve") {
    return solve(named, std::move(done));
  }
  if (std::optional<RpcError> unknown = unknown_member(entry, named)) {
    return done({"", std::move(unknown)});
  }
  if (method == "runs.resume") {
    return resume(named, std::move(done));
  }
  std::optional<Turn> turn;
  if (method == "runs.replay") {
    if (callers_->replaying.exchange(true)) {
      return done(rpc_failure(unavailable("a replay is at work; at most 1 at a time")));
    }
    turn.emplace(callers_->replaying);
  }
  RpcOutcome outcome = entry.run(services_, named);
  turn.reset();
  done(std::move(outcome));
}

void Methods::solve(const Json& params, RpcDone done) {
  Json asked = params;
  if (const auto model = asked.find("model"); model != asked.end()) {
    if (!model->is_string()) {
      return done(refused(invalid("model must be text"), false));
    }
    const engine::ModelInfo& loaded = services_.engine.model().info;
    const std::string name = model->get<std::string>();
    if (name != services_.model && name != loaded.name && name != loaded.path &&
        name != loaded.sha256) {
      RpcOutcome outcome = rpc_failure(conflict("model " + to_text(Json(name)) +
                                                " is not loaded; this server runs " +
                                                to_text(Json(services_.model))));
      outcome.error->param = "model";
      outcome.error->limit = services_.model;
      return done(std::move(outcome));
    }
    asked.erase("model");
  }
  Result<search::Request> request = search::request_from_json(asked);
  if (!request) {
    return done(refused(request.status(), false));
  }
  if (request->run_id.empty()) {
    request->run_id = search::new_run_id();
  }
  const std::string run_id = request->run_id;
  const bool detached = request->detach;
  const Status started = begin(run_id, detached, [&] {
    return services_.runs.start(*std::move(request), observer(run_id)).status();
  });
  if (!started.ok()) {
    return done(refused(started, true));
  }
  await(run_id, std::move(done));
}

void Methods::resume(const Json& params, RpcDone done) {
  Result<std::string> run_id = interrupted_run(services_, params);
  if (!run_id) {
    return done(rpc_failure(run_id.status()));
  }
  const bool detached = params.contains("detach") && params["detach"] == true;
  const Status started = begin(*run_id, detached, [&] {
    return services_.runs.resume(*run_id, observer(*run_id)).status();
  });
  if (!started.ok()) {
    return done(rpc_failure(started));
  }
  await(*run_id, std::move(done));
}

// Entered before it starts: another caller of the same run who goes meanwhile must find this one.
Status Methods::begin(const std::string& run_id, bool detached,
                      const std::function<Status()>& start) {
  if (detached) {
    return start();
  }
  callers_->enter(run_id);
  const Status status = start();
  if (status.ok()) {
    link_->started(run_id);
  } else {
    link_->give_up(run_id, false);
  }
  return status;
}

void Methods::await(const std::string& run_id, RpcDone done) {
  search::Runs& runs = services_.runs;
  runs.when_over(run_id, [&runs, link = link_, run_id, done = std::move(done)] {
    const Result<search::Answer> answer = runs.wait(run_id);
    link->answered(run_id);
    done(answer ? RpcOutcome{to_text(search::to_json(*answer)), std::nullopt}
                : rpc_failure(answer.status()));
  });
}

search::Observer Methods::observer(const std::string& run_id) const {
  const std::lock_guard guard(link_->lock);
  if (!link_->notify) {
    return nullptr;
  }
  return [link = link_, run_id](const search::Event& event) { link->tell(run_id, event); };
}

}  // namespace thinkd::daemon
