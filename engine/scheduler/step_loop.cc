#include "engine/scheduler/step_loop.h"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace thinkd::engine {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

StepLoop::StepLoop(std::unique_ptr<LanguageModel> model, const EngineOptions& options,
                   uint32_t context, uint64_t pages, const BlockHash& root)
    : model_(std::move(model)),
      options_(options),
      context_(context),
      pool_(model_->runner->shape().page_bytes, pages, root) {
  pool_.set_caching(options.prefix_cache);
  thread_ = std::thread([this] { loop(); });
}

StepLoop::~StepLoop() {
  {
    std::lock_guard guard(lock_);
    ending_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void StepLoop::add(std::shared_ptr<QueryState> query) {
  std::lock_guard guard(lock_);
  queries_.push_back(std::move(query));
}

void StepLoop::settle() {
  std::unique_lock guard(lock_);
  // A round that is under way may have reclaimed already: the next whole one has seen everything.
  const uint64_t target = rounds_ + 2;
  rounds_wanted_ = std::max(rounds_wanted_, target);
  wake_.notify_all();
  settled_.wait(guard, [&] { return rounds_ >= target; });
}

EngineStatus StepLoop::status() {
  settle();
  const PoolStats pool = pool_.stats();
  std::lock_guard guard(lock_);
  return {steps_, rows_, pool.used, pool.cached, pool.total, pool.evictions};
}

bool StepLoop::idle() const {
  if (rounds_ < rounds_wanted_) {
    return false;
  }
  return std::none_of(queries_.begin(), queries_.end(),
                      [](const auto& query) { return query->advancing || query->closing; });
}

void StepLoop::loop() {
  std::unique_lock guard(lock_);
  while (true) {
    wake_.wait(guard, [&] { return ending_ || !idle(); });
    if (ending_) {
      return;
    }
    take();
    guard.unlock();
    const auto start = std::chrono::steady_clock::now();
    pool_.reclaim();
    const uint64_t rows_before = rows_;
    step();
    guard.lock();
    deliver(seconds_since(start), static_cast<uint32_t>(rows_ - rows_before));
    active_.clear();
    ++rounds_;
    settled_.notify_all();
  }
}

void StepLoop::close(QueryState& query) {
  query.extends.clear();
  query.statics.clear();
  query.new_extends.clear();
  query.new_statics.clear();
  query.closed = true;
  query.changed.notify_all();
}

void StepLoop::take() {
  for (const auto& query : queries_) {
    if (query->closing) {
      close(*query);
    } else if (query->advancing) {
      active_.push_back(query);
      if (!query->running) {
        query->running = true;
        query->turn = ++turns_;
      }
      query->stopped = query->stopped || query->stop_requested;
      query->chosen = query->chosen && query->new_extends.empty();
      for (Extending& extend : query->new_extends) {
        query->extends.push_back(std::move(extend));
      }
      for (StaticWork& work : query->new_statics) {
        query->statics.push_back(std::move(work));
      }
      query->new_extends.clear();
      query->new_statics.clear();
    }
  }
  std::erase_if(queries_, [](const auto& query) { return query->closed; });
}

void StepLoop::deliver(double seconds, uint32_t rows) {
  for (const auto& query : active_) {
    if (query->step_rows > 0 && rows > 0) {
      query->cost.seconds_computing += seconds * query->step_rows / rows;
    } else {
      query->cost.seconds_waiting += seconds;
    }
    query->cost.page_seconds += seconds * query->pages;
    query->step_rows = 0;
    for (Finished& done : query->finished) {
      query->done.insert(done.id);
      query->mailbox.push_back(std::move(done));
    }
    query->finished.clear();
    // How many log-probs and states fit into one step depends on the load: what was begun at this
    // tick is finished before "any" counts, so that the owner always sees the same.
    const bool begun = !query->statics.empty();
    query->advancing = begun || (!query->satisfied() && !query->extends.empty());
    query->running = query->advancing;
    query->shown_tick = query->tick;
    query->shown_allowance = query->allowance;
    query->shown_stopped = query->stopped;
    query->shown_cost = query->cost;
    if (!query->advancing || !query->mailbox.empty()) {
      query->changed.notify_all();
    }
  }
}

std::vector<QueryState*> StepLoop::in_order() {
  std::vector<QueryState*> order;
  for (const auto& query : active_) {
    order.push_back(query.get());
  }
  std::sort(order.begin(), order.end(), [](const QueryState* a, const QueryState* b) {
    return std::tuple(-int64_t{a->options.priority}, !a->decoding, a->turn) <
           std::tuple(-int64_t{b->options.priority}, !b->decoding, b->turn);
  });
  return order;
}

void StepLoop::step() {
  const std::vector<QueryState*> order = in_order();
  StepPlan plan(pool_, ++plans_, options_.step_rows);
  std::vector<QueryState*> ready;
  for (QueryState* query : order) {
    start_work(*query);
    if (query->stopped) {
      end_all(*query);
      continue;
    }
    bool complete = false;
    const uint32_t before = plan.rows();
    plan_query(*query, plan, complete);
    query->step_rows = plan.rows() - before;
    if (complete) {
      ready.push_back(query);
    }
    if (query->blocked && query == order.front() && plan.rows() == 0) {
      refuse(*query, plan.pages_missing());
    }
  }
  plan.run(*model_->runner);
  settle_statics(order, plan);
  tick(ready);
  if (plan.rows() > 0) {
    std::lock_guard guard(lock_);
    ++steps_;
    rows_ += plan.rows();
  }
}

// What can never run: no token to go on from, past the context, more pages than the quota. A
// spliced branch is counted with the lineage of all that it reads: which of it has to be computed
// again depends on what other queries evicted, and no query's end may.
Status StepLoop::check(const Branch& branch, const QueryState& query) {
  if (branch.length() == 0) {
    return invalid("the branch is empty: there is no token to go on from");
  }
  if (branch.length() > context_) {
    return over_limit("a branch of " + std::to_string(branch.length()) +
                      " tokens: the context is " + std::to_string(context_));
  }
  const uint64_t pages = recipe_pages(branch.segments(), pool_.next_mark());
  if (pages > query.options.page_quota) {
    return over_limit("a branch of " + std::to_string(pages) + " pages" +
                      (branch.exact() ? "" : ", those behind its splices included") +
                      ": the query may use " + std::to_string(query.options.page_quota));
  }
  return {};
}

// New extends join in path order; what is over at once ends at this tick.
void StepLoop::start_work(QueryState& query) {
  if (query.stopped) {
    return;
  }
  for (auto work = query.statics.begin(); work != query.statics.end();) {
    Status status = work->checked ? Status() : check(work->branch, query);
    if (status.ok()) {
      work->checked = true;
      ++work;
    } else {
      fail_static(query, *work, std::move(status));
      work = query.statics.erase(work);
    }
  }
  if (query.chosen) {
    return;
  }
  std::stable_sort(query.extends.begin(), query.extends.end(),
                   [](const Extending& a, const Extending& b) { return a.path() < b.path(); });
  for (size_t i = 0; i < query.extends.size();) {
    Extending& extend = query.extends[i];
    const Status status = extend.take_grown() ? check(extend.branch(), query) : Status();
    if (!status.ok()) {
      query.finished.push_back({extend.id(), query.tick,
                                status.within("branch " + to_string(extend.path())),
                                extend.finish(ExtendEnd::stopped)});
      query.erase_extend(i);
    } else if (const auto end = extend.over(context_)) {
      end_finished(query, i, *end);
    } else {
      ++i;
    }
  }
}

// How many branches, from the first in path order, may run within the quota: distinct blocks of
// their recipes, as if no other query shared them.
void StepLoop::choose_runnable(QueryState& query) {
  const uint64_t mark = pool_.next_mark();
  const uint32_t quota = query.options.page_quota;
  query.chosen = true;
  query.runnable = 0;
  query.pages = 0;
  std::vector<BlockRun> runs;
  for (size_t i = 0; i < query.extends.size();) {
    runs.clear();
    for (const Segment& segment : query.extends[i].branch().segments()) {
      append_runs(segment, runs);
    }
    uint32_t fresh = 0;
    for (const BlockRun& run : runs) {
      fresh += run.block->counted != mark ? 1 : 0;
    }
    if (query.pages + fresh > quota) {
      return;
    }
    for (const BlockRun& run : runs) {
      run.block->counted = mark;
    }
    query.pages += fresh;
    query.runnable = ++i;
  }
}

// How many of these, from the first in path order, both allowances pay a token for.
void StepLoop::choose_paid(QueryState& query) const {
  const auto most = static_cast<size_t>(std::min<uint64_t>(query.runnable, query.allowance));
  uint64_t flops = query.flops;
  for (query.paid = 0; query.paid < most; ++query.paid) {
    const uint64_t cost = row_flops(uint64_t{query.extends[query.paid].branch().length()} + 1);
    if (cost > flops) {
      return;
    }
    flops -= cost;
  }
}

void StepLoop::plan_query(QueryState& query, StepPlan& plan, bool& ready) {
  PlanCost cost;
  query.blocked = false;
  if (!query.statics.empty()) {
    for (StaticWork& work : query.statics) {
      const Need need =
          work.tip ? plan.require_tip(work.branch, cost)
                   : plan.require_states(work.branch, work.next, work.end, cost, work.wanted);
      work.ready = need == Need::met;
      query.blocked = query.blocked || need == Need::no_room;
      if (!work.ready) {
        break;
      }
    }
  } else {
    if (!query.chosen) {
      choose_runnable(query);
    }
    choose_paid(query);
    ready = query.runnable > 0;
    for (size_t i = 0; i < query.runnable; ++i) {
      const Extending& extend = query.extends[i];
      const bool draws = i < query.paid && !extend.recorded();
      const Need need = draws ? plan.require_tip(extend.branch(), cost) : Need::met;
      ready = ready && need == Need::met;
      query.blocked = query.blocked || need == Need::no_room;
      if (need != Need::met) {
        break;
      }
    }
    query.decoding = ready;
  }
  query.cost.rows += cost.rows;
  query.cost.cached_tokens += cost.cached_tokens;
  query.cost.rebuilt_tokens += cost.rebuilt_tokens;
}

// The whole pool was this query's and its next piece of work did not fit. check() let pass only
// what fits, so this is a fault of ours; the query must not wait for ever all the same.
void StepLoop::refuse(QueryState& query, uint64_t pages) {
  const Status status =
      internal_error("a step has no room for the " + std::to_string(pages) +
                     " pages of one branch in a pool of " + std::to_string(pool_.pages()));
  if (!query.statics.empty()) {
    fail_static(query, query.statics.front(), status);
    query.statics.pop_front();
  } else if (!query.extends.empty()) {
    Extending& first = query.extends.front();
    query.finished.push_back({first.id(), query.tick, status, first.finish(ExtendEnd::stopped)});
    query.erase_extend(0);
  }
}

}  // namespace thinkd::engine
