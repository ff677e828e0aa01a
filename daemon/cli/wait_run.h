#pragma once
// Waits for one run and shows its answer: what `ask` and `resume` share. The first SIGINT or
// SIGTERM cancels the run, so that its best answer so far is shown; the exit code is then
// kExitInterrupted.

#include <functional>
#include <string>

#include "base/json.h"
#include "base/status.h"
#include "daemon/cli/arguments.h"
#include "daemon/house.h"
#include "daemon/rpc/client.h"
#include "daemon/signals.h"
#include "search/answer.h"
#include "search/event.h"

namespace thinkd::daemon {

int show_result(const Arguments& arguments, const search::Answer& answer, bool interrupted);

// A call of the daemon's that is answered with an Answer. `run_id` is what a signal cancels; where
// it is not known, a signal ends this process, and the daemon cancels the run that nobody waits
// for.
struct DaemonCall {
  const Endpoint& daemon;
  std::string method;  // solve, runs.resume
  const Json& params;
  std::string run_id;
};
int wait_in_daemon(const Arguments& arguments, SignalWatch& signals, const DaemonCall& asked);

// `start` begins the run in `house` and gives its id. `signals` was made before the house.
int wait_here(const Arguments& arguments, House& house, SignalWatch& signals,
              const std::function<Result<std::string>(search::Observer)>& start);

}  // namespace thinkd::daemon
