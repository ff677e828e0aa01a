#pragma once
// What the engine knows of a query: the part that its owner and the engine thread share under the
// engine's lock, and the part that only the engine thread touches.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <set>
#include <vector>

#include "engine/scheduler/extending.h"
#include "engine/scheduler/query.h"

namespace thinkd::engine {

// Log-probs or a hidden state being computed: states of the tokens [next, end) are still to come.
struct StaticWork {
  WorkId id = 0;
  Branch branch;
  bool hidden = false;  // one state, as it is
  bool tip = false;     // of the last token: its block keeps it for all who share it
  std::optional<ExtendResult> extended;  // the extend that waits for its last state
  bool checked = false;                  // it can run
  std::vector<Token> targets;            // log-probs: the token after each state
  uint32_t top_k = 0;
  uint32_t next = 0;
  uint32_t end = 0;
  std::vector<uint32_t> wanted;  // states the step at hand computes
  bool ready = false;            // a tip: its block has the state after the step at hand
  std::vector<TokenLogprobs> logprobs;
  std::vector<float> state;
};

class QueryState {
 public:
  explicit QueryState(const QueryOptions& query_options)
      : options(query_options),
        allowance(query_options.token_allowance),
        flops(query_options.flops_allowance) {}

  const QueryOptions options;

  WorkId next_id = 1;  // owner thread only

  // Under the engine's lock.
  bool satisfied() const {
    const auto is_done = [&](WorkId id) { return done.count(id) > 0; };
    return until == Until::any ? std::any_of(wanted.begin(), wanted.end(), is_done)
                               : std::all_of(wanted.begin(), wanted.end(), is_done);
  }
  std::vector<Extending> new_extends;
  std::vector<StaticWork> new_statics;
  std::vector<WorkId> wanted;
  Until until = Until::all;
  bool advancing = false;
  bool stop_requested = false;
  bool closing = false;
  bool closed = false;
  std::set<WorkId> done;
  std::deque<Finished> mailbox;
  std::condition_variable changed;
  uint64_t shown_tick = 0;
  uint64_t shown_allowance = 0;
  bool shown_stopped = false;
  QueryCost shown_cost;

  void erase_extend(size_t index) {
    extends.erase(extends.begin() + static_cast<std::ptrdiff_t>(index));
    chosen = false;
  }

  // Engine thread only; its owner's while the query does not advance, under the lock.
  std::vector<Extending> extends;  // in path order
  std::deque<StaticWork> statics;  // in the order of their ids
  std::vector<Finished> finished;  // of this step, on their way to the mailbox
  uint64_t tick = 0;
  uint64_t allowance = 0;
  uint64_t flops = 0;
  bool stopped = false;
  bool running = false;   // the owner is in advance()
  uint64_t turn = 0;      // when it came in: who came first is planned first
  bool blocked = false;   // its pages did not fit beside those of the step
  bool decoding = false;  // its last step was a tick: goes before prefills
  bool chosen = false;    // the next two stand for the branches as they are
  size_t runnable = 0;    // the first so many of `extends` run in this tick
  uint32_t pages = 0;     // that they read
  size_t paid = 0;        // so many of these get a token
  uint32_t step_rows = 0;
  QueryCost cost;
};

}  // namespace thinkd::engine
