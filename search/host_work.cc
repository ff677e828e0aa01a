// The verbs that the engine does: handed to the query when submitted, run inside wait().

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/philox.h"
#include "search/prompt.h"
#include "search/verb_host.h"

namespace thinkd::search {
namespace {

// Journal payload of an extend: u8 end | u32 count + u32 tokens | u32 count + f64 log-probs.
std::string extend_payload(const engine::ExtendResult& result) {
  ByteWriter writer;
  writer.write(static_cast<uint8_t>(result.end));
  writer.array(std::span<const engine::Token>(result.tokens));
  writer.array(std::span<const double>(result.logprobs));
  return writer.take();
}

Result<engine::ExtendItem::Recorded> recorded_extend(std::string_view payload) {
  ByteReader reader(payload);
  engine::ExtendItem::Recorded recorded;
  const auto end = reader.read<uint8_t>();
  recorded.tokens = reader.array<engine::Token>();
  recorded.logprobs = reader.array<double>();
  if (!reader.done() || end > static_cast<uint8_t>(engine::ExtendEnd::bad_logits) ||
      recorded.tokens.size() != recorded.logprobs.size()) {
    return corrupt("journal: an extend entry of " + std::to_string(payload.size()) +
                   " bytes does not add up");
  }
  recorded.end = static_cast<engine::ExtendEnd>(end);
  return recorded;
}

// Of one branch's log-probs: u32 count, then per token u32, f64, f64, u32 count + (u32, f64)s.
std::string logprobs_payload(const std::vector<sdk::TokenLogprob>& tokens) {
  ByteWriter writer;
  writer.write(static_cast<uint32_t>(tokens.size()));
  for (const sdk::TokenLogprob& token : tokens) {
    writer.write(token.token).write(token.logprob).write(token.entropy);
    writer.write(static_cast<uint32_t>(token.top.size()));
    for (const sdk::TopLogprob& top : token.top) {
      writer.write(top.token).write(top.logprob);
    }
  }
  return writer.take();
}

Result<std::vector<sdk::TokenLogprob>> recorded_logprobs(std::string_view payload) {
  ByteReader reader(payload);
  std::vector<sdk::TokenLogprob> tokens;
  for (uint32_t left = reader.read<uint32_t>(); left > 0 && !reader.failed(); --left) {
    sdk::TokenLogprob token;
    token.token = reader.read<uint32_t>();
    token.logprob = reader.read<double>();
    token.entropy = reader.read<double>();
    for (uint32_t tops = reader.read<uint32_t>(); tops > 0 && !reader.failed(); --tops) {
      sdk::TopLogprob top;
      top.token = reader.read<uint32_t>();
      top.logprob = reader.read<double>();
      token.top.push_back(top);
    }
    tokens.push_back(std::move(token));
  }
  if (!reader.done()) {
    return corrupt("journal: a logprobs entry of " + std::to_string(payload.size()) +
                   " bytes does not add up");
  }
  return tokens;
}

Status check_sampling(const sdk::Sampling& sampling) {
  const auto within = [](float value, float low, float high) {
    return std::isfinite(value) && value >= low && value <= high;
  };
  if (!within(sampling.temperature, 0, 100)) {
    return invalid("extend: temperature must be from 0 to 100");
  }
  if (!within(sampling.top_p, 0, 1) || sampling.top_p == 0) {
    return invalid("extend: top_p must be above 0, at most 1");
  }
  if (!within(sampling.min_p, 0, 1)) {
    return invalid("extend: min_p must be from 0 to 1");
  }
  if (!within(sampling.repetition_penalty, 0.1f, 10)) {
    return invalid("extend: repetition_penalty must be from 0.1 to 10");
  }
  return {};
}

Status check_stops(const std::vector<std::string>& stops) {
  constexpr size_t kMost = 2 * limits::kStopTexts;  // the user's and the strategy's own
  if (stops.size() > kMost) {
    return over_limit("extend: " + std::to_string(stops.size()) + " stop texts; at most " +
                      std::to_string(kMost));
  }
  for (const std::string& stop : stops) {
    if (stop.empty() || stop.size() > limits::kStopTextBytes) {
      return over_limit("extend: a stop text of " + std::to_string(stop.size()) + " bytes; 1 to " +
                        std::to_string(limits::kStopTextBytes) + " are allowed");
    }
  }
  return {};
}

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
    case engine::ExtendEnd::allowance:
    case engine::ExtendEnd::stopped:
      break;  // never given to a strategy
  }
  return sdk::End::dropped;
}

}  // namespace

void VerbHost::bill(uint32_t first_position, uint64_t tokens) {
  for (uint64_t i = 0; i < tokens; ++i) {
    ledger_.flops += setup_.engine.row_flops(static_cast<uint32_t>(first_position + i + 1));
  }
}

Status VerbHost::extend(const sdk::Extend& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  THINKD_CHECK(check_sampling(request.sampling));
  THINKD_CHECK(check_stops(request.stops));
  if (request.branches.empty()) {
    return invalid("extend: no branch is named");
  }
  std::set<uint64_t> named;
  for (sdk::BranchId id : request.branches) {
    Result<BranchSlot*> slot = idle_branch(id);
    if (!slot) {
      return slot.status();
    }
    if ((*slot)->branch.length() == 0) {
      return invalid("extend: branch " + to_string((*slot)->path) + " is empty");
    }
    if (!named.insert(id.value).second) {
      return invalid("extend: branch " + to_string((*slot)->path) + " is named twice");
    }
  }
  const Sha256Digest arguments = hash_of(request);
  Pending& pending = pending_[ticket];
  pending.verb = sdk::Verb::extend;
  pending.tick = query_->tick();
  pending.path = branches_.find(request.branches.front().value)->path;
  pending.open_parts = static_cast<uint32_t>(request.branches.size());
  pending.extended.branches.resize(request.branches.size());
  for (size_t part = 0; part < request.branches.size(); ++part) {
    THINKD_CHECK(submit_extend(request, request.branches[part].value, arguments, ticket, part));
  }
  return {};
}

Status VerbHost::submit_extend(const sdk::Extend& request, uint64_t id,
                               const Sha256Digest& arguments, uint64_t ticket, size_t part) {
  BranchSlot& slot = *branches_.find(id);
  const Budget& budget = setup_.request.budget;
  Work work{ticket, part, id, sdk::Verb::extend, arguments, false, false, 0, false, nullptr, {}};
  engine::ExtendItem item;
  item.max_tokens = setup_.engine.context() - slot.branch.length();
  if (request.max_tokens != 0) {
    item.max_tokens = std::min(item.max_tokens, request.max_tokens);
  }
  if (budget.longest) {
    const uint64_t left =
        *budget.longest - std::min<uint64_t>(*budget.longest, slot.lineage.tokens());
    work.capped_by_longest = left < item.max_tokens;
    item.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(item.max_tokens, left));
  }
  if (budget.flops) {
    // As many tokens as this branch alone could still pay for.
    uint64_t left = *budget.flops - std::min(*budget.flops, ledger_.flops);
    uint32_t tokens = 0;
    while (tokens < item.max_tokens) {
      const uint64_t row = setup_.engine.row_flops(slot.branch.length() + tokens + 1);
      if (row > left) {
        break;
      }
      left -= row;
      ++tokens;
    }
    if (tokens == 0 && item.max_tokens > 0) {
      stop_because(StopReason::flops);
      return may_work();
    }
    work.capped_by_flops = tokens < item.max_tokens;
    item.max_tokens = tokens;
  }
  Result<std::optional<std::string>> logged = journal_.recorded(
      static_cast<uint16_t>(sdk::Verb::extend), ticket, to_string(slot.path), arguments);
  if (!logged) {
    return keep(logged.status());
  }
  if (*logged) {
    Result<engine::ExtendItem::Recorded> recorded = recorded_extend(**logged);
    if (!recorded) {
      return keep(recorded.status());
    }
    item.recorded = *std::move(recorded);
  }
  item.path = slot.path;
  item.sampling = {request.sampling.temperature, request.sampling.top_k, request.sampling.top_p,
                   request.sampling.min_p, request.sampling.repetition_penalty};
  item.stops = request.stops;
  item.matcher = slot.matcher;
  item.key = draw_key(setup_.request.seed.value_or(0), stream_, to_string(slot.path), slot.epoch);
  item.first_draw = slot.draws;
  item.hidden_at_stop = request.hidden_at_stop;
  item.branch = std::move(slot.branch);
  work.max_tokens = item.max_tokens;
  slot.held_by = ticket;
  works_.emplace(query_->submit(std::move(item)), std::move(work));
  return {};
}

Status VerbHost::logprobs(const sdk::Logprobs& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  const engine::LanguageModel& model = setup_.engine.model();
  const Result<std::vector<engine::Token>> tokens = request.source == sdk::Source::tokens
                                                        ? check_tokens(model, request.tokens)
                                                        : model.tokenizer->encode(request.text);
  if (!tokens) {
    return tokens.status();
  }
  if (request.branches.empty() || tokens->empty()) {
    return invalid("logprobs: no branch or no token is given");
  }
  if (request.top_k > limits::kTopLogprobs) {
    return over_limit("logprobs: top_k " + std::to_string(request.top_k) + "; at most " +
                      std::to_string(limits::kTopLogprobs));
  }
  for (sdk::BranchId id : request.branches) {
    Result<BranchSlot*> slot = idle_branch(id);
    if (!slot) {
      return slot.status();
    }
    const uint64_t length = (*slot)->branch.length();
    if (length == 0 || length + tokens->size() > setup_.engine.context()) {
      return over_limit("logprobs: branch " + to_string((*slot)->path) + " of " +
                        std::to_string(length) + " tokens and " + std::to_string(tokens->size()) +
                        " more; the context holds 2 to " + std::to_string(setup_.engine.context()));
    }
  }
  const Sha256Digest arguments = hash_of(request);
  Pending& pending = pending_[ticket];
  pending.verb = sdk::Verb::logprobs;
  pending.tick = query_->tick();
  pending.path = branches_.find(request.branches.front().value)->path;
  pending.open_parts = static_cast<uint32_t>(request.branches.size());
  pending.logprobs.branches.resize(request.branches.size());
  for (size_t part = 0; part < request.branches.size(); ++part) {
    const BranchSlot& slot = *branches_.find(request.branches[part].value);
    pending.logprobs.branches[part].branch = request.branches[part];
    ledger_.verifier_tokens += tokens->size();
    bill(slot.branch.length(), tokens->size());
    constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::logprobs);
    Result<std::optional<std::string>> logged =
        journal_.recorded(kKind, ticket, to_string(slot.path), arguments);
    if (!logged) {
      return keep(logged.status());
    }
    Work work{ticket, part,    0,      sdk::Verb::logprobs, arguments, false, false, 0,
              false,  nullptr, *tokens};
    if (*logged) {
      Result<std::vector<sdk::TokenLogprob>> known = recorded_logprobs(**logged);
      if (!known) {
        return keep(known.status());
      }
      work.recorded = *std::move(known);
    }
    const bool recorded = work.recorded.has_value();
    works_.emplace(
        query_->submit(engine::LogprobsItem{slot.branch, *tokens, request.top_k, recorded}),
        std::move(work));
  }
  return {};
}

Status VerbHost::hidden(const sdk::Hidden& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  if (request.branches.empty()) {
    return invalid("hidden: no branch is named");
  }
  for (sdk::BranchId id : request.branches) {
    Result<BranchSlot*> slot = idle_branch(id);
    if (!slot) {
      return slot.status();
    }
    const uint32_t length = (*slot)->branch.length();
    const uint32_t last = length == 0 ? 0 : length - 1;
    if (length == 0 || (request.position != sdk::kLast && request.position > last)) {
      return invalid("hidden: position " + std::to_string(request.position) + " of branch " +
                     to_string((*slot)->path) + ", which has " + std::to_string(length) +
                     " tokens");
    }
  }
  Pending& pending = pending_[ticket];
  pending.verb = sdk::Verb::hidden;
  pending.tick = query_->tick();
  pending.path = branches_.find(request.branches.front().value)->path;
  pending.open_parts = static_cast<uint32_t>(request.branches.size());
  pending.hidden.branches.resize(request.branches.size());
  for (size_t part = 0; part < request.branches.size(); ++part) {
    const BranchSlot& slot = *branches_.find(request.branches[part].value);
    pending.hidden.branches[part].branch = request.branches[part];
    const uint32_t position =
        request.position == sdk::kLast ? slot.branch.length() - 1 : request.position;
    Work work{ticket, part, 0, sdk::Verb::hidden, {}, false, false, 0, false, nullptr, {}};
    works_.emplace(query_->submit(engine::HiddenItem{slot.branch, position}), std::move(work));
  }
  return {};
}

// Such an end is never given to the strategy: it is told that the run is over.
bool VerbHost::ended_by_budget(const Work& work, const engine::ExtendResult& result) {
  return result.end == engine::ExtendEnd::allowance ||
         (work.capped_by_flops && result.end == engine::ExtendEnd::max_tokens &&
          result.tokens.size() == work.max_tokens);
}

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
  const bool unpaid = extended != nullptr && ended_by_budget(work, *extended);
  const bool nothing_finite = extended != nullptr && extended->tokens.empty() &&
                              extended->end == engine::ExtendEnd::bad_logits;
  if (extended != nullptr) {
    BranchSlot* slot = work.orphan ? work.slot.get() : branches_.find(work.branch);
    if (slot != nullptr) {
      finished_extend(work, *slot, std::move(*extended), done.tick);
    }
  }
  const auto pending = pending_.find(work.ticket);
  if (stopped || unpaid || pending == pending_.end() || work.orphan) {
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
    part_done(work.ticket, done.tick);
  } else if (auto* hidden = std::get_if<engine::HiddenResult>(&done.result)) {
    pending->second.hidden.branches[work.part].state = std::move(hidden->hidden);
    part_done(work.ticket, done.tick);
  } else {
    part_done(work.ticket, done.tick);
  }
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
  bill(first, count);

  if (ended_by_budget(work, result)) {
    stop_because(result.end == engine::ExtendEnd::allowance ? StopReason::tokens
                                                            : StopReason::flops);
  } else if (result.end == engine::ExtendEnd::max_tokens && count == work.max_tokens) {
    slot.cut_by_longest = slot.cut_by_longest || work.capped_by_longest;
  }
  const Budget& budget = setup_.request.budget;
  if (budget.flops && ledger_.flops > *budget.flops) {
    stop_because(StopReason::flops);
  }
  if (result.end != engine::ExtendEnd::stopped && !collecting_ && failure_.ok() &&
      reason_ != StopReason::interrupted) {
    static_cast<void>(
        keep(journal_.add(static_cast<uint16_t>(sdk::Verb::extend), work.ticket,
                          to_string(slot.path), work.arguments, extend_payload(result))));
  }
  Event event;
  event.kind = EventKind::extended;
  event.branch = to_string(slot.path);
  event.tokens = count;
  event.text = result.text;
  event.note = to_string(result.end);
  tell(std::move(event));

  const auto pending = pending_.find(work.ticket);
  if (work.orphan || pending == pending_.end()) {
    return;
  }
  sdk::Extended& out = pending->second.extended.branches[work.part];
  out.branch = {work.branch};
  out.end = end_of(result.end);
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
  if (!collecting_ && failure_.ok()) {
    static_cast<void>(keep(journal_.add(static_cast<uint16_t>(sdk::Verb::logprobs), work.ticket,
                                        slot ? to_string(slot->path) : "", work.arguments,
                                        logprobs_payload(out.tokens))));
  }
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
  } else {
    pending.result = sdk::encode_result<sdk::Hidden>(pending.hidden, ticket);
  }
}

}  // namespace thinkd::search
