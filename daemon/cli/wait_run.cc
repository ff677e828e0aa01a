#include "daemon/cli/wait_run.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "daemon/cli/output.h"
#include "daemon/cli/show_event.h"
#include "daemon/cli/show_run.h"
#include "daemon/cli/watch_run.h"
#include "daemon/exit_code.h"

namespace thinkd::daemon {
namespace {

// Counted for the progress line, or told line by line where --watch says so.
class Spectator {
 public:
  explicit Spectator(const Arguments& arguments) : tells_(arguments.has("watch")) {}

  void take(const search::Event& event) {
    counts_.take(event);
    if (tells_) {
      tell(lines_.take(event));
    }
  }
  void take(const Json& params) {
    counts_.take(params);
    if (!tells_) {
      return;
    }
    if (const Result<search::Event> event = search::event_from_json(params)) {
      tell(lines_.take(*event));
    }
  }
  void done() { tell(lines_.rest()); }
  // `rows` as RunWatch::line() takes them.
  std::optional<ProgressLine> progress(std::function<uint64_t()> rows) {
    if (tells_) {
      return std::nullopt;
    }
    return std::optional<ProgressLine>(std::in_place, [this, rows = std::move(rows)](double s) {
      return counts_.line(s, rows());
    });
  }

 private:
  const bool tells_;
  RunWatch counts_;
  EventLines lines_;
};

}  // namespace

int show_result(const Arguments& arguments, const search::Answer& answer, bool interrupted) {
  print(arguments.json() ? to_text(search::to_json(answer)) : shown_answer(answer));
  return interrupted ? kExitInterrupted : kExitDone;
}

int wait_in_daemon(const Arguments& arguments, SignalWatch& signals, const DaemonCall& asked) {
  Spectator watch(arguments);
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
    const auto progress = watch.progress([] { return uint64_t{0}; });
    value = call(asked.daemon, asked.method, asked.params,
                 [&watch](const Json& event) { watch.take(event); });
  }
  watch.done();
  const bool interrupted = signals.fired();
  if (!value) {
    return fail(value.status());
  }
  const Result<search::Answer> answer = search::answer_from_json(*value);
  return answer ? show_result(arguments, *answer, interrupted) : fail(answer.status());
}

int wait_here(const Arguments& arguments, House& house, SignalWatch& signals,
              const std::function<Result<std::string>(search::Observer)>& start) {
  const auto watch = std::make_shared<Spectator>(arguments);
  const Result<std::string> run_id =
      start([watch](const search::Event& event) { watch->take(event); });
  if (!run_id) {
    return fail(run_id.status());
  }
  signals.set_handler([&house, id = *run_id] { (void)house.runs->cancel(id); });
  Result<search::Answer> answer = Status(Code::internal, "nothing ran");
  {
    const auto progress = watch->progress([&house] { return house.engine->status().rows; });
    answer = house.runs->wait(*run_id);
  }
  watch->done();
  const bool interrupted = signals.fired();
  signals.set_handler(nullptr);
  return answer ? show_result(arguments, *answer, interrupted) : fail(answer.status());
}

}  // namespace thinkd::daemon
