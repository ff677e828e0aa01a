// The end of a run: what still runs comes home, and the answer is chosen.

#include <algorithm>

#include "base/text.h"
#include "search/verb_host.h"

namespace thinkd::search {
namespace {

Code code_of(thinkd_status status) {
  switch (status) {
    case THINKD_INVALID:
      return Code::invalid;
    case THINKD_LIMIT:
      return Code::limit;
    case THINKD_UNAVAILABLE:
      return Code::unavailable;
    default:
      return Code::internal;
  }
}

bool descends(const engine::BranchPath& path, const engine::BranchPath& from) {
  return path.indices.size() > from.indices.size() &&
         std::equal(from.indices.begin(), from.indices.end(), path.indices.begin());
}

}  // namespace

Outcome VerbHost::outcome(thinkd_status status) {
  collect_running();
  if (failure_.ok() && over_ && reason_ != StopReason::interrupted && candidates_.empty()) {
    emit_unfinished();
  }
  branches_.clear();
  live_ = 0;
  Outcome out;
  if (!failure_.ok()) {
    out.status = failure_;
    return out;
  }
  if (reason_ == StopReason::interrupted && over_) {
    out.status = cancelled("the run was interrupted; it can be resumed");
    return out;
  }
  if (status != THINKD_OK && status != THINKD_STOPPED) {
    out.status = Status(code_of(status),
                        fail_text_.empty() ? "the strategy failed without a reason" : fail_text_);
    return out;
  }
  Answer& answer = out.answer;
  const Chosen chosen = choose(rule_, candidates_, setup_.request.task.empty());
  answer.answer = chosen.answer;
  answer.confidence = chosen.confidence;
  answer.confidence_kind = chosen.confidence_kind;
  answer.chosen = chosen.candidate;
  if (over_) {
    answer.stopped_by = to_string(reason_);
  } else if (chosen.candidate && candidates_[*chosen.candidate].cut) {
    answer.stopped_by = "longest";
  }
  answer.candidates = std::move(candidates_);
  answer.ledger = ledger_now();
  answer.seed = setup_.request.seed.value_or(0);
  answer.run_id = setup_.request.run_id;
  const bool cut_from_outside =
      over_ && (reason_ == StopReason::seconds || reason_ == StopReason::cancelled);
  answer.reproducible_from_seed = !clock_was_read_ && !cut_from_outside;
  const engine::ModelInfo& model = setup_.engine.model().info;
  answer.model_name = model.name;
  answer.model_sha256 = model.sha256;
  answer.model_quantization = model.quantization;
  answer.strategy = setup_.request.strategy;
  answer.approximate.assign(approximate_.begin(), approximate_.end());
  Event event;
  event.kind = EventKind::ledger;
  event.ledger = answer.ledger;
  tell(std::move(event));
  return out;
}

// Work that nobody will wait for any more: the query stops at this tick, and what its branches have
// generated until now comes home to be billed.
void VerbHost::collect_running() {
  collecting_ = true;
  std::vector<engine::WorkId> running;
  for (const auto& [id, work] : works_) {
    running.push_back(id);
  }
  if (running.empty()) {
    return;
  }
  query_->stop();
  const uint64_t tick = query_->tick();
  query_->advance(running, engine::Until::all,
                  [&](engine::Finished done) { finished(std::move(done), tick); });
}

// A run that was ended before its first candidate still answers: the branches that the strategy
// held when it was told, in path order, with what they have generated. They cost no judgement, so
// there is no score and no verdict. A branch that lives on in a fork is told by the fork.
void VerbHost::emit_unfinished() {
  std::vector<BranchSlot*> held;
  for (auto& [id, slot] : branches_) {
    if (slot.lineage.tokens() > 0) {
      held.push_back(&slot);
    }
  }
  std::sort(held.begin(), held.end(),
            [](const BranchSlot* a, const BranchSlot* b) { return a->path < b->path; });
  const uint64_t most = setup_.request.budget.samples.value_or(UINT64_MAX);
  for (size_t i = 0; i < held.size() && candidates_.size() < most; ++i) {
    if (i + 1 < held.size() && descends(held[i + 1]->path, held[i]->path)) {
      continue;
    }
    BranchSlot& slot = *held[i];
    Candidate candidate;
    candidate.text = generated_text(slot);
    add_candidate(std::move(candidate), &slot);
  }
  tell_best();
}

}  // namespace thinkd::search
