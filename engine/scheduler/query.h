#pragma once
// A query: one run's place in the engine. It owns a logical clock that counts in steps of one token
// for each of its runnable branches, a page quota and a token allowance, and is a function of its
// own work alone: whatever else the engine does, the same work gives the same results at the same
// ticks.
//
// Nothing of a query runs outside advance(). advance() blocks its caller and lets the clock run
// until the awaited work is done, so that a strategy decides between ticks and never races the
// engine. Branches beyond the page quota are not runnable; they start in path order as pages free.
// Both allowances are spent in the order of ticks and paths and are never passed: a branch whose
// next token they do not pay for ends at that tick.
//
// Threads: one owner thread calls everything but stop(), which any thread may call.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/philox.h"
#include "base/status.h"
#include "engine/kv/branch.h"
#include "engine/sampling/sampling.h"
#include "engine/sampling/stop_matcher.h"
#include "engine/scheduler/branch_path.h"

namespace thinkd::engine {

enum class ExtendEnd : uint8_t {
  stop_text,   // a stop text was completed
  end_token,   // the model ended the text
  max_tokens,  // the call's own limit
  context,     // the model's context is full
  allowance,   // the query may generate no more tokens
  stopped,     // stop() or stop_at
  bad_logits,  // no logit was finite
  flops,       // the query may spend no more FLOPs
  dropped,     // take_back()
};
std::string_view to_string(ExtendEnd end);

// One branch to be extended. The branch is moved in and comes back longer.
struct ExtendItem {
  Branch branch;
  BranchPath path;
  uint32_t max_tokens = 0;
  Sampling sampling;
  std::vector<std::string> stops;
  StopMatcher matcher;  // as the last extend of this branch left it
  PhiloxKey key{};
  uint64_t first_draw = 0;  // tokens this branch has drawn with this key before
  bool hidden_at_stop = false;
  // Tokens and numbers a journal knows already: taken tick by tick instead of being computed, so
  // that a resumed query keeps the clock, the quota and the allowance of the interrupted one.
  struct Recorded {
    std::vector<Token> tokens;
    std::vector<double> logprobs;
    ExtendEnd end = ExtendEnd::max_tokens;
  };
  std::optional<Recorded> recorded;
};

struct ExtendResult {
  Branch branch;
  StopMatcher matcher;
  std::vector<Token> tokens;
  std::vector<double> logprobs;  // of each token, the model's own
  std::string text;              // of the tokens, cut before the stop text; no control tokens
  ExtendEnd end = ExtendEnd::max_tokens;
  std::vector<float> hidden;  // where asked for
};

// Log-probs of `tokens` as a continuation of `branch`; takes no tick.
struct LogprobsItem {
  Branch branch;
  std::vector<Token> tokens;
  uint32_t top_k = 0;
  bool recorded = false;  // a journal has them: nothing is computed, and it is done in its turn
};
struct LogprobsResult {
  std::vector<TokenLogprobs> tokens;
};

// State after the final norm of the token at `position`; takes no tick.
struct HiddenItem {
  Branch branch;
  uint32_t position = 0;
};
struct HiddenResult {
  std::vector<float> hidden;
};

using WorkId = uint64_t;

struct Finished {
  WorkId id = 0;
  uint64_t tick = 0;
  // invalid: an empty branch; limit: past the context, or a branch that cannot fit alone (both
  // numbers named), counted with all that rebuilding it from nothing reads; cancelled: log-probs or
  // states when the query was stopped.
  Status status;
  std::variant<ExtendResult, LogprobsResult, HiddenResult> result;
};

enum class Until : uint8_t { any, all };  // any: log-probs and states of one tick still all finish

struct QueryOptions {
  uint32_t page_quota = 0;                // pages of branches that run at once; 0: the whole pool
  uint64_t token_allowance = UINT64_MAX;  // tokens this query may still generate
  uint64_t flops_allowance = UINT64_MAX;  // Engine::row_flops of these, and what spend_flops() took
  int32_t priority = 0;                   // higher goes first where a step is full
  std::optional<uint64_t> stop_at;        // replay: stop when the clock reaches this tick
};

// What this query really cost, as opposed to the ledger's "as if alone".
struct QueryCost {
  uint64_t cached_tokens = 0;   // rows another query's pages served
  uint64_t rebuilt_tokens = 0;  // rows computed again after an eviction
  uint64_t rows = 0;
  double seconds_computing = 0;  // steps' time, shared by rows
  double seconds_waiting = 0;    // in advance() while no step held a row of this query
  double page_seconds = 0;
};

class QueryState;
class Engine;

class Query {
 public:
  Query(Engine& engine, std::shared_ptr<QueryState> state);  // by Engine::new_query
  ~Query();  // stops what runs; its branches come home before it returns
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  WorkId submit(ExtendItem item);
  WorkId submit(LogprobsItem item);
  WorkId submit(HiddenItem item);

  // Runs until any (all) of `wanted` are done. `finished` hears of everything that finishes, also
  // of what was not asked for, in the order (tick, path), on the calling thread, while the rest
  // still runs. After stop() everything running ends as `stopped` at one tick, and later work at
  // once.
  void advance(std::span<const WorkId> wanted, Until until,
               const std::function<void(Finished)>& finished);

  // Ends an extend that is not done, at the tick where the clock stands: the branch comes back with
  // what it has drawn until there, and `finished` does not hear of it. Not within advance(). None:
  // nothing of that id is being extended.
  std::optional<ExtendResult> take_back(WorkId id);

  // Takes from the FLOPs allowance what the owner pays for beside extends; false, and nothing is
  // taken, where less is left. Not within advance().
  [[nodiscard]] bool spend_flops(uint64_t flops);

  void stop();  // any thread
  bool stopped() const;
  uint64_t tick() const;  // the clock
  uint64_t tokens_left() const;
  QueryCost cost() const;

 private:
  Engine& engine_;
  std::shared_ptr<QueryState> state_;
};

}  // namespace thinkd::engine
