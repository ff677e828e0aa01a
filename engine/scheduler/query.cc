#include "engine/scheduler/query.h"

#include <algorithm>
#include <cassert>

#include "engine/scheduler/engine.h"
#include "engine/scheduler/query_state.h"
#include "engine/scheduler/step_loop.h"

namespace thinkd::engine {

Query::Query(Engine& engine, std::shared_ptr<QueryState> state)
    : engine_(engine), state_(std::move(state)) {}

Query::~Query() {
  std::unique_lock guard(engine_.loop_->lock());
  state_->closing = true;
  engine_.loop_->wake();
  state_->changed.wait(guard, [&] { return state_->closed; });
}

WorkId Query::submit(ExtendItem item) {
  const WorkId id = state_->next_id++;
  std::lock_guard guard(engine_.loop_->lock());
  state_->new_extends.emplace_back(id, std::move(item));
  return id;
}

WorkId Query::submit(LogprobsItem item) {
  StaticWork work;
  work.id = state_->next_id++;
  if (item.branch.length() > 0) {
    if (!item.recorded) {
      work.next = item.branch.length() - 1;
      work.end = work.next + static_cast<uint32_t>(item.tokens.size());
    }
    item.branch.append(item.tokens);
  }
  work.branch = std::move(item.branch);
  work.targets = std::move(item.tokens);
  work.top_k = item.top_k;
  const WorkId id = work.id;
  std::lock_guard guard(engine_.loop_->lock());
  state_->new_statics.push_back(std::move(work));
  return id;
}

WorkId Query::submit(HiddenItem item) {
  StaticWork work;
  work.id = state_->next_id++;
  work.hidden = true;
  work.tip = item.position + 1 == item.branch.length();
  work.next = item.position;
  work.end = item.position + 1;
  work.branch = std::move(item.branch);
  const WorkId id = work.id;
  std::lock_guard guard(engine_.loop_->lock());
  state_->new_statics.push_back(std::move(work));
  return id;
}

void Query::advance(std::span<const WorkId> wanted, Until until,
                    const std::function<void(Finished)>& finished) {
  if (wanted.empty()) {
    return;
  }
  std::unique_lock guard(engine_.loop_->lock());
  state_->wanted.assign(wanted.begin(), wanted.end());
  state_->until = until;
  state_->advancing = !state_->satisfied();
  engine_.loop_->wake();
  while (true) {
    state_->changed.wait(guard, [&] { return !state_->mailbox.empty() || !state_->advancing; });
    if (state_->mailbox.empty()) {
      return;
    }
    Finished done = std::move(state_->mailbox.front());
    state_->mailbox.pop_front();
    guard.unlock();
    finished(std::move(done));
    guard.lock();
  }
}

std::optional<ExtendResult> Query::take_back(WorkId id) {
  std::lock_guard guard(engine_.loop_->lock());
  assert(!state_->advancing);
  const auto is_it = [&](const Extending& extend) { return extend.id() == id; };
  for (std::vector<Extending>* list : {&state_->new_extends, &state_->extends}) {
    const auto found = std::find_if(list->begin(), list->end(), is_it);
    if (found != list->end()) {
      ExtendResult result = found->finish(ExtendEnd::dropped);
      list->erase(found);
      state_->chosen = false;
      state_->done.insert(id);
      return result;
    }
  }
  return std::nullopt;
}

bool Query::spend_flops(uint64_t flops) {
  std::lock_guard guard(engine_.loop_->lock());
  assert(!state_->advancing);
  if (flops > state_->flops) {
    return false;
  }
  state_->flops -= flops;
  return true;
}

void Query::stop() {
  std::lock_guard guard(engine_.loop_->lock());
  state_->stop_requested = true;
}

bool Query::stopped() const {
  std::lock_guard guard(engine_.loop_->lock());
  return state_->stop_requested || state_->shown_stopped;
}

uint64_t Query::tick() const {
  std::lock_guard guard(engine_.loop_->lock());
  return state_->shown_tick;
}

uint64_t Query::tokens_left() const {
  std::lock_guard guard(engine_.loop_->lock());
  return state_->shown_allowance;
}

QueryCost Query::cost() const {
  std::lock_guard guard(engine_.loop_->lock());
  return state_->shown_cost;
}

}  // namespace thinkd::engine
