#pragma once
// The methods of the daemon: what a connection may call, over the runs of this process. docs/rpc.md
// shows each with its parameters.
//
// A Methods object belongs to one connection. A run that was asked for without `detach` is
// cancelled when the last connection that waits for it has gone. Threads: call() by one thread at a
// time, leave() by any; answers and progress come on the runs' threads.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "daemon/rpc/json_rpc.h"
#include "engine/scheduler/engine.h"
#include "search/registry.h"
#include "search/runs.h"
#include "verifiers/registry.h"

namespace thinkd::daemon {

// What the methods work on; all of it outlives the server.
struct Services {
  search::Runs& runs;
  engine::Engine& engine;
  const search::Registry& registry;
  const verifiers::Verifiers& verifiers;
  std::string store_dir;  // its models are listed; "" for none
  std::string model;      // the loaded model as the user named it
  std::string isa;        // the kernels in use, for server.status
};

// Who waits for which run, over all connections of a server.
class Callers {
 public:
  void enter(const std::string& run_id);
  // True where nobody waits any more and somebody had gone before the answer.
  bool leave(const std::string& run_id, bool gone);

  std::atomic<bool> replaying{false};  // one replay at a time

 private:
  struct Waiting {
    uint32_t callers = 0;
    bool abandoned = false;
  };
  std::mutex lock_;
  std::map<std::string, Waiting> waiting_;  // lock_
};

class Methods final : public RpcHandler {
 public:
  using Notify = std::function<void(std::string)>;  // a whole notification; must not block

  // `notify` may be empty: then nobody hears progress.
  Methods(const Services& services, std::shared_ptr<Callers> callers, Notify notify);
  ~Methods() override;  // leave()

  bool knows(std::string_view method) const override;
  void call(const std::string& method, const Json& params, RpcDone done) override;

  // The connection is gone: nobody hears answers or progress any more.
  void leave();

 private:
  struct Link;

  void solve(const Json& params, RpcDone done);
  void resume(const Json& params, RpcDone done);
  Status begin(const std::string& run_id, bool detached, const std::function<Status()>& start);
  void await(const std::string& run_id, RpcDone done);
  search::Observer observer(const std::string& run_id) const;

  const Services services_;
  const std::shared_ptr<Callers> callers_;
  const std::shared_ptr<Link> link_;
};

}  // namespace thinkd::daemon
