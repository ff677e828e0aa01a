// What a step's states become: log-probs and hidden states for those who asked, and ticks. Draws
// are pure functions of state, key and index, so they are made for all queries first, in parallel;
// then each query settles its tick in the order of its paths.

#include <algorithm>

#include "engine/scheduler/step_loop.h"

namespace thinkd::engine {

namespace {

constexpr size_t kTile = 64;  // states whose logits are held at once

const std::vector<float>* tip_state(const Branch& branch) {
  const Segment last = branch.segments().back();
  return last.last->tip(last.end - 1)->state.get();
}

}  // namespace

struct StepLoop::Drawing {
  QueryState* query;
  size_t index;
  const std::vector<float>* state;
  std::optional<Draw> draw;
};

void StepLoop::tile_logits(std::span<const float* const> states) {
  const ModelShape& shape = model_->runner->shape();
  std::vector<float> packed(states.size() * shape.width);
  for (size_t i = 0; i < states.size(); ++i) {
    std::copy_n(states[i], shape.width,
                packed.begin() + static_cast<std::ptrdiff_t>(i * shape.width));
  }
  logits_.resize(states.size() * shape.vocabulary);
  model_->runner->logits(packed.data(), static_cast<uint32_t>(states.size()), logits_.data());
}

void StepLoop::settle_statics(const std::vector<QueryState*>& queries, const StepPlan& plan) {
  struct Asked {
    StaticWork* work;
    const float* state;
    size_t index;
  };
  std::vector<Asked> asked;
  for (QueryState* query : queries) {
    for (StaticWork& work : query->statics) {
      if (work.tip && work.ready) {
        work.state = *tip_state(work.branch);
        work.next = work.end;
      } else if (work.hidden && !work.wanted.empty()) {
        const std::span<const float> state = plan.state(work.wanted.front());
        work.state.assign(state.begin(), state.end());
        work.next = work.end;
      } else {
        const size_t have = work.logprobs.size();
        work.logprobs.resize(have + work.wanted.size());
        for (size_t i = 0; i < work.wanted.size(); ++i) {
          asked.push_back({&work, plan.state(work.wanted[i]).data(), have + i});
        }
        work.next += static_cast<uint32_t>(work.wanted.size());
      }
      work.wanted.clear();
    }
  }
  const size_t vocabulary = model_->runner->shape().vocabulary;
  for (size_t begin = 0; begin < asked.size(); begin += kTile) {
    const size_t count = std::min(kTile, asked.size() - begin);
    std::vector<const float*> states;
    for (size_t i = 0; i < count; ++i) {
      states.push_back(asked[begin + i].state);
    }
    tile_logits(states);
    model_->runner->parallel(static_cast<uint32_t>(count), [&](uint32_t i) {
      const Asked& at = asked[begin + i];
      at.work->logprobs[at.index] =
          token_logprobs(std::span<const float>(logits_).subspan(i * vocabulary, vocabulary),
                         at.work->targets[at.index], at.work->top_k);
    });
  }
  for (QueryState* query : queries) {
    finish_statics(*query);
  }
}

void StepLoop::finish_statics(QueryState& query) {
  while (!query.statics.empty() && query.statics.front().next == query.statics.front().end) {
    StaticWork& work = query.statics.front();
    Finished done{work.id, query.tick, {}, HiddenResult{}};
    if (work.extended) {
      work.branch = Branch();  // the extended branch is its only holder again
      work.extended->hidden = std::move(work.state);
      done.result = std::move(*work.extended);
    } else if (work.hidden) {
      done.result = HiddenResult{std::move(work.state)};
    } else {
      done.result = LogprobsResult{std::move(work.logprobs)};
    }
    query.finished.push_back(std::move(done));
    query.statics.pop_front();
  }
}

void StepLoop::end_finished(QueryState& query, size_t index, ExtendEnd end) {
  Extending& extend = query.extends[index];
  const bool wants_state = extend.wants_hidden() && end != ExtendEnd::stopped &&
                           end != ExtendEnd::allowance && end != ExtendEnd::flops &&
                           extend.branch().length() > 0;
  if (wants_state) {
    // The last token's state takes a row: it is computed before the clock goes on.
    StaticWork work;
    work.id = extend.id();
    work.hidden = work.tip = true;
    work.extended = extend.finish(end);
    work.branch = work.extended->branch;
    work.end = work.branch.length();
    work.next = work.end - 1;
    query.statics.push_back(std::move(work));
  } else {
    query.finished.push_back({extend.id(), query.tick, {}, extend.finish(end)});
  }
  query.erase_extend(index);
}

// An extend that waited for its last state comes home all the same.
void StepLoop::fail_static(QueryState& query, StaticWork& work, Status status) {
  Finished done{work.id, query.tick, std::move(status), HiddenResult{}};
  if (work.extended) {
    work.branch = Branch();
    done.result = std::move(*work.extended);
  }
  query.finished.push_back(std::move(done));
}

void StepLoop::end_all(QueryState& query) {
  for (StaticWork& work : query.statics) {
    fail_static(query, work, cancelled("the query was stopped"));
  }
  query.statics.clear();
  while (!query.extends.empty()) {
    end_finished(query, 0, ExtendEnd::stopped);
  }
}

void StepLoop::draw(std::vector<Drawing>& drawings) {
  std::vector<Drawing*> pending;
  for (Drawing& drawing : drawings) {
    if (drawing.state != nullptr) {
      pending.push_back(&drawing);
    }
  }
  const size_t vocabulary = model_->runner->shape().vocabulary;
  for (size_t begin = 0; begin < pending.size();) {
    std::vector<const float*> tile;  // forks of one tip share its state and its logits
    std::vector<size_t> place;
    size_t end = begin;
    for (; end < pending.size(); ++end) {
      const float* state = pending[end]->state->data();
      const auto found = std::find(tile.begin(), tile.end(), state);
      if (found == tile.end() && tile.size() == kTile) {
        break;
      }
      place.push_back(static_cast<size_t>(found - tile.begin()));
      if (found == tile.end()) {
        tile.push_back(state);
      }
    }
    tile_logits(tile);
    model_->runner->parallel(static_cast<uint32_t>(end - begin), [&](uint32_t i) {
      Drawing& drawing = *pending[begin + i];
      drawing.draw = drawing.query->extends[drawing.index].draw(
          std::span<const float>(logits_).subspan(place[i] * vocabulary, vocabulary));
    });
    begin = end;
  }
}

void StepLoop::tick(const std::vector<QueryState*>& ready) {
  std::vector<Drawing> all;
  for (QueryState* query : ready) {
    for (size_t i = 0; i < query->runnable; ++i) {
      const Extending& extend = query->extends[i];
      Drawing drawing{query, i, nullptr, extend.recorded()};
      if (!drawing.draw && i < query->paid) {
        drawing.state = tip_state(extend.branch());
      }
      all.push_back(std::move(drawing));
    }
  }
  draw(all);
  auto begin = all.begin();
  for (QueryState* query : ready) {
    const auto end = begin + static_cast<std::ptrdiff_t>(query->runnable);
    std::vector<Drawing> own(std::make_move_iterator(begin), std::make_move_iterator(end));
    settle_tick(*query, own);
    begin = end;
  }
}

void StepLoop::settle_tick(QueryState& query, std::vector<Drawing>& drawings) {
  const Vocabulary& vocabulary = model_->tokenizer->vocabulary();
  ++query.tick;
  const ExtendEnd unpaid = query.paid == query.allowance ? ExtendEnd::allowance : ExtendEnd::flops;
  size_t at = 0;  // those that end leave the list
  bool unspent = false;
  for (const Drawing& drawing : drawings) {
    std::optional<ExtendEnd> end;
    if (drawing.index >= query.paid) {
      if (!unspent) {
        end = unpaid;
      }  // else the next tick has what a broken branch left
    } else if (!drawing.draw) {
      end = ExtendEnd::bad_logits;
      unspent = true;
    } else {
      --query.allowance;
      query.flops -= row_flops(uint64_t{query.extends[at].branch().length()} + 1);
      end = query.extends[at].take(*drawing.draw, vocabulary, context_);
      query.chosen = query.chosen && !query.extends[at].grown();
    }
    if (end) {
      end_finished(query, at, *end);
    } else {
      ++at;
    }
  }
  if (query.options.stop_at && query.tick >= *query.options.stop_at) {
    query.stopped = true;
    end_all(query);
  }
}

}  // namespace thinkd::engine
