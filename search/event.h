#pragma once
// What happens in a run, as its callers see it: enough to draw the tree. The list of all events is
// kept with the run; `explain` draws from that list, so it equals what progress notifications told.
// Events are a function of the run alone (no times but in the ledger), in the order of the verbs.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/json.h"
#include "base/status.h"
#include "search/ledger.h"

namespace thinkd::search {

enum class EventKind : uint8_t {
  opened,    // a branch came to be: `branch`, `parent` ("" for a root)
  extended,  // it grew: `tokens` new ones, `text` of them, `note` why it stopped
  scored,    // a verifier judged it: `score`, `note` the verdict
  pruned,    // it was dropped without being a candidate
  finished,  // it was emitted as a candidate: `score`, `answer`
  best,    // the answer by the run's rule is now `answer`, of `branch`, with `score` its confidence
  ledger,  // `ledger` so far
  note,    // a strategy said something: `note`
};
std::string_view to_string(EventKind kind);

struct Event {
  uint64_t index = 0;  // in its run, from 0
  EventKind kind = EventKind::note;
  std::string branch;  // path
  std::string parent;
  uint64_t tokens = 0;
  std::string text;
  std::string note;
  std::optional<std::string> answer;
  std::optional<double> score;
  std::optional<Ledger> ledger;
};

// { "index", "event", then what the kind carries }.
OrderedJson to_json(const Event& event);
// Back from what to_json wrote; corrupt names the member.
Result<Event> event_from_json(const Json& value);

// The tree of a run, as `explain` and `runs show` give it: { "branches": [ { "branch", "parent",
// "text", "tokens", "end", "scores", "pruned", "candidate", "answer", "score" } ... in order of
// opening ], "best", "events" (how many) }. `events` are what to_json wrote.
OrderedJson tree_of(std::span<const Json> events);

// Called on the run's own thread, in order; must be quick and must not call back into Runs.
using Observer = std::function<void(const Event&)>;

}  // namespace thinkd::search
