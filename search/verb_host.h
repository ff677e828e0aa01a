#pragma once
// One run as its strategy sees it: the host table of the C ABI over one engine query. Budgets,
// deadline, cancel, events, ledger and journal live in here, so that no strategy can forget them.
//
// Verbs that only touch recipes are done when they are submitted; extend, logprobs and hidden are
// handed to the query and run inside wait(). When a budget, a deadline or a cancel ends the run,
// results that are there already are still given and may be judged and emitted; the first call that
// would need more work returns THINKD_STOPPED. Branches that the strategy drops from then on stay
// until outcome(): where no candidate was emitted, what they have generated is the answer.
//
// Threads: request_stop() and live_branches() from any thread; everything else from the run's own.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/scheduler/engine.h"
#include "plugins/sdk/codec.h"
#include "search/answer.h"
#include "search/branch_table.h"
#include "search/event.h"
#include "search/journal.h"
#include "search/ledger.h"
#include "search/request.h"
#include "search/stop.h"
#include "verifiers/registry.h"

namespace thinkd::search {

struct HostSetup {
  engine::Engine& engine;
  const verifiers::Verifiers& verifiers;
  const Request& request;          // checked, with seed and run_id
  std::vector<sdk::Param> params;  // of the strategy, checked
  uint32_t page_quota = 0;
  std::chrono::steady_clock::time_point admitted;
  Observer observer;  // may be null
};

struct Outcome {
  Status status;  // why there is no answer; cancelled: interrupted
  Answer answer;
};

class VerbHost {
 public:
  // The journal's own entries are read here: where the logged run was stopped from outside.
  static Result<std::unique_ptr<VerbHost>> create(HostSetup setup, Journal journal);
  VerbHost(HostSetup setup, Journal journal);  // by create()
  ~VerbHost();

  // Runs the strategy to its end and drops every branch. Once.
  Outcome run(const thinkd_strategy& strategy);

  void request_stop(StopReason reason);  // seconds, cancelled or interrupted; the first one counts
  uint64_t live_branches() const { return live_.load(std::memory_order_relaxed); }
  const Journal& journal() const { return journal_; }

 private:
  // One verb under way or done and not yet taken.
  struct Pending {
    sdk::Verb verb{};
    uint64_t tick = 0;
    engine::BranchPath path;
    uint32_t open_parts = 0;  // branches whose work is not done
    sdk::ExtendResult extended;
    sdk::LogprobsResult logprobs;
    sdk::HiddenResult hidden;
    sdk::VerifyResult verified;
    Status failure;
    sdk::Bytes result;  // when done
    bool done() const { return !result.empty(); }
  };
  // One branch's part of such a verb, in the engine.
  struct Work {
    uint64_t ticket = 0;
    size_t part = 0;
    uint64_t branch = 0;
    sdk::Verb verb{};
    Sha256Digest arguments{};
    bool capped_by_longest = false;
    uint32_t max_tokens = 0;
    std::vector<engine::Token> scored;
    std::optional<std::vector<sdk::TokenLogprob>> recorded;  // log-probs of the log
    std::shared_ptr<const verifiers::StateScorer> scorer{};  // of a verify by states
    std::optional<double> recorded_score{};                  // idem, of the log
    std::string path{};                                      // idem
  };

  // verb_host.cc: the table, tickets, stops.
  static thinkd_status table_submit(void* self, const uint8_t* record, size_t size,
                                    uint64_t* ticket);
  static thinkd_status table_wait(void* self, const uint64_t* tickets, size_t count, uint32_t until,
                                  thinkd_sink sink, void* context);
  static const char* table_error(void* self);
  static void table_fail(void* self, const char* text, size_t size);
  Status submit(std::span<const uint8_t> record, uint64_t& ticket);
  Status wait(std::span<const uint64_t> tickets, bool any, thinkd_sink sink, void* context);
  Status dispatch(sdk::Verb verb, std::span<const uint8_t> record, uint64_t ticket);
  template <class R>
  Status take(std::span<const uint8_t> record, uint64_t ticket,
              Status (VerbHost::*verb)(const R&, uint64_t));
  thinkd_status answer_with(const Status& status);
  uint64_t first_done(std::span<const uint64_t> tickets) const;
  void give(uint64_t ticket, thinkd_sink sink, void* context);
  void advance(std::span<const uint64_t> tickets, bool any, uint64_t tick_at_call);
  Status may_work();  // STOPPED where the run is over or was stopped from outside
  void stop_because(StopReason reason) {
    if (reason_ == StopReason::none) {
      reason_ = reason;
    }
  }
  void note_outside_stop(StopPoint point);

  // host_outcome.cc: the end of the run.
  Outcome outcome(thinkd_status status);
  void collect_running();  // what still runs ends here and is billed
  void emit_unfinished();  // nothing was emitted: what there is

  // host_branches.cc: verbs on recipes.
  Status open(const sdk::Open& request, uint64_t ticket);
  Status append(const sdk::Append& request, uint64_t ticket);
  Status fork(const sdk::Fork& request, uint64_t ticket);
  Status truncate(const sdk::Truncate& request, uint64_t ticket);
  Status drop(const sdk::Drop& request);
  Status splice(const sdk::Splice& request, uint64_t ticket);
  Status tokens(const sdk::Tokens& request, uint64_t ticket);
  Status text(const sdk::Text& request, uint64_t ticket);
  Result<BranchSlot*> idle_branch(sdk::BranchId id);
  Status fits_context(uint64_t length, std::string_view what) const;
  void drop_branch(uint64_t id);
  void take_back(BranchSlot& slot);  // from the extend that holds it
  std::string generated_text(const BranchSlot& slot) const;
  std::string decoded(const BranchSlot& slot, uint32_t first, uint32_t count) const;

  // host_work.cc: verbs that the engine does.
  Status extend(const sdk::Extend& request, uint64_t ticket);
  Status logprobs(const sdk::Logprobs& request, uint64_t ticket);
  Status hidden(const sdk::Hidden& request, uint64_t ticket);
  Status score_states(const sdk::Verify& request, uint64_t ticket,
                      const std::shared_ptr<const verifiers::StateScorer>& scorer);
  Status submit_extend(const sdk::Extend& request, uint64_t id, const Sha256Digest& arguments,
                       uint64_t ticket, size_t part);
  Result<std::vector<BranchSlot*>> idle_branches(sdk::Verb verb,
                                                 const std::vector<sdk::BranchId>& ids);
  uint64_t flops_of(uint32_t first_position, uint64_t tokens) const;
  // Bills rows that no extend drew. STOPPED where the budget's flops do not reach: nothing is
  // billed then and the run is over.
  Status pay(uint64_t flops);
  Pending& begin(sdk::Verb verb, uint64_t ticket, const std::vector<BranchSlot*>& slots);

  // host_results.cc: what the engine gives.
  void finished(engine::Finished done, uint64_t tick_at_call);
  void finished_extend(Work& work, BranchSlot& slot, engine::ExtendResult result, uint64_t tick);
  void finished_logprobs(Work& work, engine::LogprobsResult result);
  void finished_score(const Work& work, std::span<const float> state);
  void part_done(uint64_t ticket, uint64_t tick);

  // host_judging.cc: verbs on the run.
  Status verify(const sdk::Verify& request, uint64_t ticket);
  Status random(const sdk::Random& request, uint64_t ticket);
  Status now(const sdk::Now& request, uint64_t ticket);
  Status emit(const sdk::Emit& request);
  Status emit_candidate(const sdk::Emit& request, BranchSlot* slot);
  void add_candidate(Candidate candidate, BranchSlot* slot);  // its text, score and verdict stand
  Result<std::optional<sdk::Verdict>> final_verdict(const sdk::Emit& request,
                                                    const BranchSlot* slot,
                                                    const std::string& text);
  Result<sdk::Verdict> verdict_of(const verifiers::Judge& judge, std::string_view name,
                                  const verifiers::Candidate& candidate) const;
  Status may_verify(uint64_t calls);
  void tell(Event event);
  void tell_best();
  Ledger ledger_now() const;

  template <class R>
  Sha256Digest hash_of(const R& request);
  template <class R>
  void complete(uint64_t ticket, const typename R::Result& result, engine::BranchPath path = {}) {
    Pending& pending = pending_[ticket];
    pending.verb = R::kVerb;
    pending.tick = query_->tick();
    pending.path = std::move(path);
    pending.result = sdk::encode_result<R>(result, ticket);
  }
  // An entry of the journal. A journal that fails ends the run; one of an interrupted run is not
  // written on, since what comes now would come later, or not at all, in a run that went on.
  Status record(sdk::Verb verb, uint64_t ticket, std::string branch, const Sha256Digest& arguments,
                std::string payload);
  Status keep(const Status& status);

  HostSetup setup_;
  Journal journal_;
  const std::string stream_;
  const verifiers::Problem problem_;
  std::shared_ptr<Discards> discards_ = std::make_shared<Discards>();
  std::unique_ptr<engine::Query> query_;
  BranchTable branches_;
  uint32_t roots_ = 0;

  std::map<uint64_t, Pending> pending_;
  std::map<engine::WorkId, Work> works_;
  uint64_t next_ticket_ = 1;
  uint64_t calls_ = 0;

  Ledger ledger_;
  std::vector<Candidate> candidates_;
  Rule rule_;
  std::optional<Chosen> best_;
  uint64_t emits_ = 0;
  uint64_t events_ = 0;
  uint64_t randoms_ = 0;
  uint64_t verified_after_stop_ = 0;
  bool clock_was_read_ = false;
  std::set<std::string> approximate_;

  StopReason reason_ = StopReason::none;
  bool over_ = false;  // the strategy was told
  bool collecting_ = false;
  Status failure_;  // of the journal
  std::optional<StopPoint> logged_stop_;
  uint32_t logged_stop_index_ = 0;
  bool stop_noted_ = false;
  std::atomic<StopReason> outside_{StopReason::none};
  std::atomic<uint64_t> live_{0};

  std::string error_;
  std::string fail_text_;
};

template <class R>
Sha256Digest VerbHost::hash_of(const R& request) {
  const sdk::Bytes bytes = sdk::encode_arguments(request, [this](sdk::BranchId id) {
    const BranchSlot* slot = branches_.find(id.value);
    if (slot == nullptr) {
      return std::string();
    }
    const Sha256Digest recipe = slot->branch.recipe_hash();
    return std::string(reinterpret_cast<const char*>(recipe.data()), recipe.size());
  });
  return sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace thinkd::search
