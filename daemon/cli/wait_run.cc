#include "daemon/cli/wait_run.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "daemon/cli/output.h"
#include "daemon/cli/show_run.h"
#include "daemon/cli/watch_run.h"
#include "daemon/exit_code.h"

namespace thinkd::daemon {

int show_result(const Arguments& arguments, const search::Answer& answer, bool interrupted) {
  print(arguments.json() ? to_text(search::to_json(answer)) : shown_answer(answer));
  return interrupted ? kExitInterrupted : kExitDone;
}

int wait_in_daemon(const Arguments& arguments, SignalWatch& signals, const DaemonCall& asked) {
  RunWatch watch;
  if (!asked.run_id.empty()) {
    signals.set_handler([daemon = asked.daemon, run_id = asked.run_id] {
      // The answer, the best so far, comes back on the call that waits.
      const Result<Json> cancelled = call(daemon, "cancel", {{"run_id", run_id}});
      if (!cancelled) {
        complain(cancelled.status().message());
      }
    });
  }
  Result<Json> value = Json();
  {
    const ProgressLine progress([&watch](double seconds) { return watch.line(seconds, 0); });
    value = call(asked.daemon, asked.method, asked.params,
                 [&watch](const Json& event) { watch.take(event); });
  }
  const bool interrupted = signals.fired();
  if (!value) {
    return fail(value.status());
  }
  const Result<search::Answer> answer = search::answer_from_json(*value);
  return answer ? show_result(arguments, *answer, interrupted) : fail(answer.status());
}

int wait_here(const Arguments& arguments, House& house, SignalWatch& signals,
              const std::function<Result<std::string>(search::Observer)>& start) {
  const auto watch = std::make_shared<RunWatch>();
  const Result<std::string> run_id =
      start([watch](const search::Event& event) { watch->take(event); });
  if (!run_id) {
    return fail(run_id.status());
  }
  signals.set_handler([&house, id = *run_id] { (void)house.runs->cancel(id); });
  Result<search::Answer> answer = Status(Code::internal, "nothing ran");
  {
    const ProgressLine progress(
        [&](double seconds) { return watch->line(seconds, house.engine->status().rows); });
    answer = house.runs->wait(*run_id);
  }
  const bool interrupted = signals.fired();
  signals.set_handler(nullptr);
  return answer ? show_result(arguments, *answer, interrupted) : fail(answer.status());
}

}  // namespace thinkd::daemon
