// What the engine's work gives: to the ledger, the journal and the verb that waits for it.

#include <algorithm>

#include "search/verb_host.h"
#include "search/work_payloads.h"

namespace thinkd::search {
namespace {

sdk::End end_of(engine::ExtendEnd end) {
  switch (end) {
    case engine::ExtendEnd::stop_text:
      return sdk::End::stop_text;
    case engine::ExtendEnd::end_token:
      return sdk::End::end_token;
    case engine::ExtendEnd::max_tokens:
      return sdk::End::max_tokens;
    case engine::ExtendEnd::context:
      return sdk::End::context;
    case engine::ExtendEnd::bad_logits:
      return sdk::End::bad_logits;
    case engine::ExtendEnd::dropped:
      return sdk::End::dropped;
    case engine::ExtendEnd::allowance:
    case engine::ExtendEnd::flops:
    case engine::ExtendEnd::stopped:
      break;  // never given to a strategy
  }
  return sdk::End::dropped;
}

// Such an end is never given to the strategy: it is told that the run is over.
bool ended_by_budget(const engine::ExtendResult& result) {
  return result.end == engine::ExtendEnd::allowance || result.end == engine::ExtendEnd::flops;
}

}  // namespace

// Called by the query in the order (tick, path): what it hears is written to the journal before the
// strategy sees it, while other branches still run.
void VerbHost::finished(engine::Finished done, uint64_t tick_at_call) {
  auto node = works_.extract(done.id);
  if (node.empty()) {
    return;
  }
  Work& work = node.mapped();
  auto* extended = std::get_if<engine::ExtendResult>(&done.result);
  const bool stopped = extended != nullptr && done.status.ok()
                           ? extended->end == engine::ExtendEnd::stopped
                           : done.status.code() == Code::cancelled;
  if (stopped && !collecting_) {
    const bool as_logged = logged_stop_ && logged_stop_->at_tick && logged_stop_->tick == done.tick;
    note_outside_stop(
        as_logged ? *logged_stop_
                  : StopPoint{outside_.load(), done.tick > tick_at_call, done.tick, calls_});
  }
  const bool unpaid = extended != nullptr && ended_by_budget(*extended);
  const bool nothing_finite = extended != nullptr && extended->tokens.empty() &&
                              extended->end == engine::ExtendEnd::bad_logits;
  if (extended != nullptr) {
    finished_extend(work, *branches_.find(work.branch), std::move(*extended), done.tick);
  }
  const auto pending = pending_.find(work.ticket);
  if (stopped || unpaid || pending == pending_.end()) {
    return;
  }
  if (done.status.ok() && nothing_finite) {
    // Not a short text but a broken model: no answer may come of it.
    done.status = corrupt("the model gives no finite logit after " +
                          std::to_string(branches_.find(work.branch)->branch.length()) +
                          " tokens of branch " + to_string(branches_.find(work.branch)->path));
  }
  if (!done.status.ok()) {
    pending->second.failure = done.status;
    part_done(work.ticket, done.tick);
    return;
  }
  if (auto* logprobs = std::get_if<engine::LogprobsResult>(&done.result)) {
    finished_logprobs(work, std::move(*logprobs));
  } else if (auto* hidden = std::get_if<engine::HiddenResult>(&done.result)) {
    if (work.scorer != nullptr) {
      finished_score(work, hidden->hidden);
    } else {
      pending->second.hidden.branches[work.part].state = std::move(hidden->hidden);
    }
  }
  part_done(work.ticket, done.tick);
}

void VerbHost::finished_extend(Work& work, BranchSlot& slot, engine::ExtendResult result,
                               uint64_t tick) {
  const auto count = static_cast<uint32_t>(result.tokens.size());
  slot.branch = std::move(result.branch);
  slot.matcher = std::move(result.matcher);
  slot.held_by.reset();
  const uint32_t first = slot.branch.length() - count;
  slot.lineage.grow(first, result.logprobs);
  slot.draws += count;
  const std::string whole = setup_.engine.model().tokenizer->decode(result.tokens, false);
  if (count > 0) {
    slot.cut_bytes = whole.size() - std::min(whole.size(), result.text.size());
  }
  ledger_.generated_tokens += count;
  ledger_.longest_branch_tokens =
      std::max<uint64_t>(ledger_.longest_branch_tokens, slot.lineage.tokens());
  ledger_.flops += flops_of(first, count);

  if (ended_by_budget(result)) {
    stop_because(result.end == engine::ExtendEnd::allowance ? StopReason::tokens
                                                            : StopReason::flops);
  } else if (result.end == engine::ExtendEnd::max_tokens && count == work.max_tokens) {
    slot.cut_by_longest = slot.cut_by_longest || work.capped_by_longest;
  }
  if (result.end != engine::ExtendEnd::stopped) {
    static_cast<void>(record(sdk::Verb::extend, work.ticket, to_string(slot.path), work.arguments,
                             extend_payload(result)));
  }
  Event event;
  event.kind = EventKind::extended;
  event.branch = to_string(slot.path);
  event.tokens = count;
  event.text = result.text;
  event.note = to_string(result.end);
  tell(std::move(event));

  const auto pending = pending_.find(work.ticket);
  if (pending == pending_.end()) {
    return;
  }
  sdk::Extended& out = pending->second.extended.branches[work.part];
  out.end = end_of(result.end);
  if (result.end == engine::ExtendEnd::dropped) {
    return;  // nothing is told of what the strategy gave up
  }
  out.branch = {work.branch};
  out.tokens = std::move(result.tokens);
  out.logprobs = std::move(result.logprobs);
  out.text = std::move(result.text);
  for (double logprob : out.logprobs) {
    out.sum_logprob += logprob;
  }
  out.total_logprob = slot.lineage.sum_logprob();
  out.total_tokens = slot.lineage.tokens();
  out.length = slot.branch.length();
  out.tick = tick;
  out.hidden = std::move(result.hidden);
}

void VerbHost::finished_logprobs(Work& work, engine::LogprobsResult result) {
  Pending& pending = pending_.at(work.ticket);
  sdk::BranchLogprobs& out = pending.logprobs.branches[work.part];
  for (size_t i = 0; i < result.tokens.size(); ++i) {
    sdk::TokenLogprob token;
    token.token = work.scored[i];
    token.logprob = result.tokens[i].logprob;
    token.entropy = result.tokens[i].entropy;
    for (const auto& [id, logprob] : result.tokens[i].top) {
      token.top.push_back({id, logprob});
    }
    out.tokens.push_back(std::move(token));
  }
  if (work.recorded) {
    out.tokens = *std::move(work.recorded);
  }
  const BranchSlot* slot = branches_.find(out.branch.value);
  static_cast<void>(record(sdk::Verb::logprobs, work.ticket, slot ? to_string(slot->path) : "",
                           work.arguments, logprobs_payload(out.tokens)));
}

void VerbHost::finished_score(const Work& work, std::span<const float> state) {
  const double score = work.recorded_score.value_or(work.scorer->score(state));
  pending_.at(work.ticket).verified.verdicts[work.part].score = score;
  static_cast<void>(
      record(sdk::Verb::verify, work.ticket, work.path, work.arguments, score_payload(score)));
  Event event;
  event.kind = EventKind::scored;
  event.branch = work.path;
  event.score = score;
  event.note = "none";
  tell(std::move(event));
}

void VerbHost::part_done(uint64_t ticket, uint64_t tick) {
  Pending& pending = pending_.at(ticket);
  if (--pending.open_parts > 0) {
    return;
  }
  pending.tick = tick;
  if (!pending.failure.ok()) {
    const thinkd_status status = pending.failure.code() == Code::limit         ? THINKD_LIMIT
                                 : pending.failure.code() == Code::unavailable ? THINKD_UNAVAILABLE
                                                                               : THINKD_FAILED;
    pending.result = sdk::encode_failure(pending.verb, ticket, status, pending.failure.message());
  } else if (pending.verb == sdk::Verb::extend) {
    pending.result = sdk::encode_result<sdk::Extend>(pending.extended, ticket);
  } else if (pending.verb == sdk::Verb::logprobs) {
    pending.result = sdk::encode_result<sdk::Logprobs>(pending.logprobs, ticket);
  } else if (pending.verb == sdk::Verb::verify) {
    pending.result = sdk::encode_result<sdk::Verify>(pending.verified, ticket);
  } else {
    pending.result = sdk::encode_result<sdk::Hidden>(pending.hidden, ticket);
  }
}

}  // namespace thinkd::search
