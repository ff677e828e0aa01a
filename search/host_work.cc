// The verbs that the engine does: handed to the query when submitted, run inside wait().

#include <algorithm>
#include <cmath>

#include "base/limits.h"
#include "base/philox.h"
#include "search/prompt.h"
#include "search/verb_host.h"
#include "search/work_payloads.h"

namespace thinkd::search {
namespace {

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

}  // namespace

uint64_t VerbHost::flops_of(uint32_t first_position, uint64_t tokens) const {
  uint64_t flops = 0;
  for (uint64_t i = 0; i < tokens; ++i) {
    flops += setup_.engine.row_flops(static_cast<uint32_t>(first_position + i + 1));
  }
  return flops;
}

// The query knows what is left: what running branches have drawn is in the ledger only when they
// end.
Status VerbHost::pay(uint64_t flops) {
  if (!query_->spend_flops(flops)) {
    stop_because(StopReason::flops);
    return may_work();
  }
  ledger_.flops += flops;
  return {};
}

Result<std::vector<BranchSlot*>> VerbHost::idle_branches(sdk::Verb verb,
                                                         const std::vector<sdk::BranchId>& ids) {
  const std::string name(sdk::verb_name(verb));
  if (ids.empty()) {
    return invalid(name + ": no branch is named");
  }
  std::vector<BranchSlot*> slots;
  for (sdk::BranchId id : ids) {
    Result<BranchSlot*> slot = idle_branch(id);
    if (!slot) {
      return slot.status();
    }
    if ((*slot)->branch.length() == 0) {
      return invalid(name + ": branch " + to_string((*slot)->path) + " is empty");
    }
    slots.push_back(*slot);
  }
  return slots;
}

VerbHost::Pending& VerbHost::begin(sdk::Verb verb, uint64_t ticket,
                                   const std::vector<BranchSlot*>& slots) {
  Pending& pending = pending_[ticket];
  pending.verb = verb;
  pending.tick = query_->tick();
  pending.path = slots.front()->path;
  pending.open_parts = static_cast<uint32_t>(slots.size());
  return pending;
}

Status VerbHost::extend(const sdk::Extend& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  THINKD_CHECK(check_sampling(request.sampling));
  THINKD_CHECK(check_stops(request.stops));
  const Result<std::vector<BranchSlot*>> slots = idle_branches(sdk::Verb::extend, request.branches);
  if (!slots) {
    return slots.status();
  }
  std::set<const BranchSlot*> named;
  for (const BranchSlot* slot : *slots) {
    if (!named.insert(slot).second) {
      return invalid("extend: branch " + to_string(slot->path) + " is named twice");
    }
  }
  const Sha256Digest arguments = hash_of(request);
  begin(sdk::Verb::extend, ticket, *slots).extended.branches.resize(slots->size());
  for (size_t part = 0; part < request.branches.size(); ++part) {
    THINKD_CHECK(submit_extend(request, request.branches[part].value, arguments, ticket, part));
  }
  return {};
}

Status VerbHost::submit_extend(const sdk::Extend& request, uint64_t id,
                               const Sha256Digest& arguments, uint64_t ticket, size_t part) {
  BranchSlot& slot = *branches_.find(id);
  const std::optional<uint64_t>& longest = setup_.request.budget.longest;
  Work work{ticket, part, id, sdk::Verb::extend, arguments, false, 0, {}, std::nullopt};
  engine::ExtendItem item;
  item.max_tokens = setup_.engine.context() - slot.branch.length();
  if (request.max_tokens != 0) {
    item.max_tokens = std::min(item.max_tokens, request.max_tokens);
  }
  if (longest) {
    const uint64_t left = *longest - std::min<uint64_t>(*longest, slot.lineage.tokens());
    work.capped_by_longest = left < item.max_tokens;
    item.max_tokens = static_cast<uint32_t>(std::min<uint64_t>(item.max_tokens, left));
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
  if (tokens->empty()) {
    return invalid("logprobs: no token is given");
  }
  if (request.top_k > limits::kTopLogprobs) {
    return over_limit("logprobs: top_k " + std::to_string(request.top_k) + "; at most " +
                      std::to_string(limits::kTopLogprobs));
  }
  const Result<std::vector<BranchSlot*>> slots =
      idle_branches(sdk::Verb::logprobs, request.branches);
  if (!slots) {
    return slots.status();
  }
  uint64_t flops = 0;
  for (const BranchSlot* slot : *slots) {
    const uint32_t length = slot->branch.length();
    if (length + tokens->size() > setup_.engine.context()) {
      return over_limit("logprobs: branch " + to_string(slot->path) + " of " +
                        std::to_string(length) + " tokens and " + std::to_string(tokens->size()) +
                        " more; the context holds " + std::to_string(setup_.engine.context()));
    }
    flops += flops_of(length, tokens->size());
  }
  const Sha256Digest arguments = hash_of(request);
  THINKD_CHECK(pay(flops));
  ledger_.verifier_tokens += slots->size() * tokens->size();
  Pending& pending = begin(sdk::Verb::logprobs, ticket, *slots);
  pending.logprobs.branches.resize(slots->size());
  for (size_t part = 0; part < slots->size(); ++part) {
    const BranchSlot& slot = *(*slots)[part];
    pending.logprobs.branches[part].branch = request.branches[part];
    constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::logprobs);
    Result<std::optional<std::string>> logged =
        journal_.recorded(kKind, ticket, to_string(slot.path), arguments);
    if (!logged) {
      return keep(logged.status());
    }
    Work work{ticket, part, 0, sdk::Verb::logprobs, arguments, false, 0, *tokens, std::nullopt};
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
  const Result<std::vector<BranchSlot*>> slots = idle_branches(sdk::Verb::hidden, request.branches);
  if (!slots) {
    return slots.status();
  }
  for (const BranchSlot* slot : *slots) {
    if (request.position != sdk::kLast && request.position >= slot->branch.length()) {
      return invalid("hidden: position " + std::to_string(request.position) + " of branch " +
                     to_string(slot->path) + ", which has " +
                     std::to_string(slot->branch.length()) + " tokens");
    }
  }
  Pending& pending = begin(sdk::Verb::hidden, ticket, *slots);
  pending.hidden.branches.resize(slots->size());
  for (size_t part = 0; part < slots->size(); ++part) {
    const BranchSlot& slot = *(*slots)[part];
    pending.hidden.branches[part].branch = request.branches[part];
    const uint32_t position =
        request.position == sdk::kLast ? slot.branch.length() - 1 : request.position;
    Work work{ticket, part, 0, sdk::Verb::hidden, {}, false, 0, {}, std::nullopt};
    works_.emplace(query_->submit(engine::HiddenItem{slot.branch, position}), std::move(work));
  }
  return {};
}

// By the state of each branch's last token. A run that goes on takes the score from its journal,
// and computes the state again, so that the verb takes its turn as it did.
Status VerbHost::score_states(const sdk::Verify& request, uint64_t ticket,
                              const std::shared_ptr<const verifiers::StateScorer>& scorer) {
  THINKD_CHECK(may_work());
  const Result<std::vector<BranchSlot*>> slots = idle_branches(sdk::Verb::verify, request.branches);
  if (!slots) {
    return slots.status();
  }
  THINKD_CHECK(may_verify(slots->size()));
  ledger_.verifier_calls += slots->size();
  const Sha256Digest arguments = hash_of(request);
  begin(sdk::Verb::verify, ticket, *slots).verified.verdicts.resize(slots->size());
  for (size_t part = 0; part < slots->size(); ++part) {
    const BranchSlot& slot = *(*slots)[part];
    constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::verify);
    Result<std::optional<std::string>> logged =
        journal_.recorded(kKind, ticket, to_string(slot.path), arguments);
    if (!logged) {
      return keep(logged.status());
    }
    Work work;
    work.ticket = ticket;
    work.part = part;
    work.verb = sdk::Verb::verify;
    work.arguments = arguments;
    work.scorer = scorer;
    work.path = to_string(slot.path);
    if (*logged) {
      const Result<double> score = recorded_score(**logged);
      if (!score) {
        return keep(score.status());
      }
      work.recorded_score = *score;
    }
    works_.emplace(query_->submit(engine::HiddenItem{slot.branch, slot.branch.length() - 1}),
                   std::move(work));
  }
  return {};
}

}  // namespace thinkd::search
