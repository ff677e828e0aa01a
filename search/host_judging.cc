// The verbs on the run: what judges, what is random, what time it is, what is a candidate.

#include <cmath>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/philox.h"
#include "base/text.h"
#include "search/judges.h"
#include "search/verb_host.h"

namespace thinkd::search {
namespace {

constexpr std::string_view kRandomPath = "random";  // no branch path has letters

sdk::Outcome outcome_of(verifiers::Outcome outcome) {
  switch (outcome) {
    case verifiers::Outcome::none:
      return sdk::Outcome::none;
    case verifiers::Outcome::correct:
      return sdk::Outcome::correct;
    case verifiers::Outcome::wrong:
      return sdk::Outcome::wrong;
    case verifiers::Outcome::no_answer:
      return sdk::Outcome::no_answer;
    case verifiers::Outcome::parse_failed:
      return sdk::Outcome::parse_failed;
    case verifiers::Outcome::gold_invalid:
      break;  // only graders say so
  }
  return sdk::Outcome::none;
}

std::string_view outcome_text(sdk::Outcome outcome) {
  switch (outcome) {
    case sdk::Outcome::none:
      return "none";
    case sdk::Outcome::correct:
      return "correct";
    case sdk::Outcome::wrong:
      return "wrong";
    case sdk::Outcome::no_answer:
      return "no_answer";
    case sdk::Outcome::parse_failed:
      return "parse_failed";
  }
  return "none";
}

std::string as_string(const sdk::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

Result<sdk::Verdict> VerbHost::verdict_of(const verifiers::Judge& judge, std::string_view name,
                                          const verifiers::Candidate& candidate) const {
  if (judge.texts == nullptr) {
    return invalid("verifier: '" + std::string(name) + "' reads branches, not texts");
  }
  const verifiers::Verdict verdict = judge.texts->check(problem_, candidate);
  return sdk::Verdict{verdict.score, outcome_of(verdict.outcome), verdict.reason, verdict.answer};
}

// Judging goes on for a while after the run was stopped, so that finished samples still count.
Status VerbHost::may_verify(uint64_t calls) {
  if (reason_ == StopReason::none) {
    static_cast<void>(may_work());  // notes a stop from outside
  }
  if (reason_ != StopReason::none && (verified_after_stop_ += calls) > limits::kBranches) {
    return cancelled("the run is over");
  }
  const std::optional<uint64_t>& most = setup_.request.budget.verifier_calls;
  if (most && ledger_.verifier_calls + calls > *most) {
    stop_because(StopReason::verifier_calls);
    return cancelled("the run is over");
  }
  return {};
}

Status VerbHost::verify(const sdk::Verify& request, uint64_t ticket) {
  if (request.branches.empty() == request.texts.empty()) {
    return invalid("verify: takes branches or texts, one of the two");
  }
  const Result<verifiers::Judge> by = find_judge(setup_.verifiers, request.verifier);
  THINKD_CHECK(by.status().within("verifier"));
  if (by->states != nullptr && !request.branches.empty()) {
    return score_states(request, ticket, by->states);
  }
  std::vector<verifiers::Candidate> judged;
  for (sdk::BranchId id : request.branches) {
    Result<BranchSlot*> slot = idle_branch(id);
    if (!slot) {
      return slot.status();
    }
    judged.push_back(
        {generated_text(**slot), (*slot)->lineage.sum_logprob(), (*slot)->lineage.tokens()});
  }
  for (const std::string& text : request.texts) {
    judged.push_back({text, 0, 0});
  }
  THINKD_CHECK(may_verify(judged.size()));
  const engine::BranchPath path = request.branches.empty()
                                      ? engine::BranchPath{}
                                      : branches_.find(request.branches.front().value)->path;
  constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::verify);
  const Sha256Digest arguments = hash_of(request);
  Result<std::optional<std::string>> logged =
      journal_.recorded(kKind, ticket, to_string(path), arguments);
  if (!logged) {
    return keep(logged.status());
  }
  sdk::VerifyResult result;
  if (*logged) {
    sdk::Decoded<sdk::VerifyResult> known = sdk::decode_result<sdk::Verify>(as_bytes(**logged));
    if (!known.ok()) {
      return keep(corrupt("journal: " + known.fault));
    }
    result = std::move(known.value);
  } else {
    for (const verifiers::Candidate& candidate : judged) {
      Result<sdk::Verdict> verdict = verdict_of(*by, request.verifier, candidate);
      if (!verdict) {
        return verdict.status();
      }
      result.verdicts.push_back(*std::move(verdict));
    }
  }
  ledger_.verifier_calls += judged.size();
  THINKD_CHECK(record(sdk::Verb::verify, ticket, to_string(path), arguments,
                      as_string(sdk::encode_result<sdk::Verify>(result, ticket))));
  for (size_t i = 0; i < request.branches.size(); ++i) {
    Event event;
    event.kind = EventKind::scored;
    event.branch = to_string(branches_.find(request.branches[i].value)->path);
    event.score = result.verdicts[i].score;
    event.note = outcome_text(result.verdicts[i].outcome);
    tell(std::move(event));
  }
  complete<sdk::Verify>(ticket, result, path);
  return {};
}

Status VerbHost::random(const sdk::Random& request, uint64_t ticket) {
  if (request.count > limits::kTreeNodes) {
    return over_limit("random: " + std::to_string(request.count) + " numbers; at most " +
                      std::to_string(limits::kTreeNodes));
  }
  const PhiloxKey key = draw_key(setup_.request.seed.value_or(0), stream_, kRandomPath, 0);
  sdk::RandomResult result;
  for (uint32_t i = 0; i < request.count; ++i) {
    result.uniforms.push_back(uniform(key, randoms_++));
  }
  complete<sdk::Random>(ticket, result);
  return {};
}

Status VerbHost::now(const sdk::Now& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::now);
  clock_was_read_ = true;
  std::string payload;
  if (const std::optional<std::string> logged = journal_.outside(kKind, ticket)) {
    payload = *logged;
  } else {
    const Budget& budget = setup_.request.budget;
    sdk::NowResult result;
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - setup_.admitted).count();
    if (budget.seconds) {
      result.seconds_left = std::max(0.0, *budget.seconds - result.seconds);
    }
    if (budget.tokens) {
      result.tokens_left = query_->tokens_left();
    }
    if (budget.samples) {
      result.samples_left = *budget.samples - std::min(*budget.samples, candidates_.size());
    }
    if (budget.verifier_calls) {
      result.verifier_calls_left =
          *budget.verifier_calls - std::min(*budget.verifier_calls, ledger_.verifier_calls);
    }
    result.tick = query_->tick();
    payload = as_string(sdk::encode_result<sdk::Now>(result, ticket));
  }
  const sdk::Decoded<sdk::NowResult> result = sdk::decode_result<sdk::Now>(as_bytes(payload));
  if (!result.ok()) {
    return keep(corrupt("journal: " + result.fault));
  }
  THINKD_CHECK(record(sdk::Verb::now, ticket, "", hash_of(request), payload));
  complete<sdk::Now>(ticket, result.value);
  return {};
}

Status VerbHost::emit(const sdk::Emit& request) {
  if (++emits_ > limits::kEmits) {
    return over_limit("emit: a run may emit " + std::to_string(limits::kEmits) + " events");
  }
  BranchSlot* slot = nullptr;
  if (request.branch.value != 0) {
    Result<BranchSlot*> found = idle_branch(request.branch);
    if (!found) {
      return found.status();
    }
    slot = *found;
  }
  Event event;
  event.branch = slot ? to_string(slot->path) : "";
  switch (request.event) {
    case sdk::Event::answer_by:
      rule_ = {request.rule, request.weighting};
      tell_best();
      return {};
    case sdk::Event::candidate:
      return emit_candidate(request, slot);
    case sdk::Event::scored:
      event.kind = EventKind::scored;
      event.score = request.score;
      break;
    case sdk::Event::pruned:
      event.kind = EventKind::pruned;
      if (slot != nullptr) {
        slot->pruned = true;
      }
      break;
    case sdk::Event::note:
      event.kind = EventKind::note;
      event.note = request.text;
      break;
  }
  tell(std::move(event));
  return {};
}

// What the run's own verifier says of a candidate: billed, and none where the budget has no call
// left.
Result<std::optional<sdk::Verdict>> VerbHost::final_verdict(const sdk::Emit& request,
                                                            const BranchSlot* slot,
                                                            const std::string& text) {
  if (setup_.request.verifier.empty()) {
    return std::optional<sdk::Verdict>();
  }
  const std::optional<uint64_t>& most = setup_.request.budget.verifier_calls;
  if (most && ledger_.verifier_calls + 1 > *most) {
    stop_because(StopReason::verifier_calls);
    return std::optional<sdk::Verdict>();
  }
  constexpr auto kKind = static_cast<uint16_t>(sdk::Verb::verify);
  const std::string path = slot ? to_string(slot->path) : "";
  const Sha256Digest arguments = hash_of(request);
  Result<std::optional<std::string>> logged = journal_.recorded(kKind, 0, path, arguments);
  if (!logged) {
    return keep(logged.status());
  }
  sdk::VerifyResult result;
  if (*logged) {
    sdk::Decoded<sdk::VerifyResult> known = sdk::decode_result<sdk::Verify>(as_bytes(**logged));
    if (!known.ok() || known.value.verdicts.size() != 1) {
      return keep(corrupt("journal: verdict of a candidate: " + known.fault));
    }
    result = std::move(known.value);
  } else {
    verifiers::Candidate candidate{text, slot ? slot->lineage.sum_logprob() : 0,
                                   slot ? slot->lineage.tokens() : 0};
    const Result<verifiers::Judge> by = find_judge(setup_.verifiers, setup_.request.verifier);
    if (!by) {
      return by.status().within("verifier");
    }
    Result<sdk::Verdict> verdict = verdict_of(*by, setup_.request.verifier, candidate);
    if (!verdict) {
      return verdict.status();
    }
    result.verdicts.push_back(*std::move(verdict));
  }
  ++ledger_.verifier_calls;
  THINKD_CHECK(record(sdk::Verb::verify, 0, path, arguments,
                      as_string(sdk::encode_result<sdk::Verify>(result, 0))));
  return std::optional(result.verdicts.front());
}

Status VerbHost::emit_candidate(const sdk::Emit& request, BranchSlot* slot) {
  if (slot == nullptr && request.text.empty()) {
    return invalid("emit: a candidate needs a branch or a text");
  }
  const std::optional<uint64_t>& most = setup_.request.budget.samples;
  if (most && candidates_.size() >= *most) {
    stop_because(StopReason::samples);
    return cancelled("the run is over");
  }
  if (request.score && !std::isfinite(*request.score)) {
    return invalid("emit: the score of a candidate must be finite");
  }
  Candidate candidate;
  candidate.text = !request.text.empty() ? request.text : generated_text(*slot);
  candidate.score = request.score;
  const Result<std::optional<sdk::Verdict>> verdict = final_verdict(request, slot, candidate.text);
  if (!verdict) {
    return verdict.status();
  }
  if (*verdict) {
    candidate.verdict = outcome_text((*verdict)->outcome);
    if (!(*verdict)->answer.empty()) {
      candidate.answer = (*verdict)->answer;
    }
  }
  add_candidate(std::move(candidate), slot);
  tell_best();
  Event bill;
  bill.kind = EventKind::ledger;
  bill.ledger = ledger_now();
  tell(std::move(bill));
  return {};
}

void VerbHost::add_candidate(Candidate candidate, BranchSlot* slot) {
  if (!candidate.answer) {
    verifiers::Extraction extraction = verifiers::extract_answer(candidate.text, problem_.kind);
    if (extraction.found) {
      candidate.answer = std::move(extraction.answer);
    }
  }
  if (slot != nullptr) {
    candidate.tokens = slot->lineage.tokens();
    candidate.branch = to_string(slot->path);
    candidate.cut = slot->cut_by_longest;
    slot->candidate = true;
    slot->lineage.keep();
  }
  candidate.text = repair_utf8(candidate.text);
  Event event;
  event.kind = EventKind::finished;
  event.branch = candidate.branch;
  event.text = candidate.text;
  event.answer = candidate.answer;
  event.score = candidate.score;
  candidates_.push_back(std::move(candidate));
  tell(std::move(event));
}

void VerbHost::tell(Event event) {
  event.index = events_++;
  if (setup_.observer) {
    setup_.observer(event);
  }
}

// Says so where the rule now gives another answer.
void VerbHost::tell_best() {
  const Chosen now = choose(rule_, candidates_, setup_.request.task.empty());
  if (!now.candidate || (best_ && best_->candidate == now.candidate &&
                         best_->confidence == now.confidence && best_->answer == now.answer)) {
    return;
  }
  Event event;
  event.kind = EventKind::best;
  event.branch = candidates_[*now.candidate].branch;
  event.answer = now.answer;
  event.score = now.confidence;
  best_ = now;
  tell(std::move(event));
}

Ledger VerbHost::ledger_now() const {
  Ledger ledger = ledger_;
  ledger.discarded_tokens = discards_->tokens;
  const engine::QueryCost cost = query_->cost();
  ledger.cached_tokens = cost.cached_tokens;
  ledger.prefill_saved_tokens = std::min(cost.cached_tokens, ledger.prompt_tokens);
  ledger.rebuilt_tokens = cost.rebuilt_tokens;
  ledger.seconds_computing = cost.seconds_computing;
  ledger.seconds_waiting = cost.seconds_waiting;
  ledger.seconds_wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - setup_.admitted).count();
  const auto page_bytes = static_cast<double>(setup_.engine.model().runner->shape().page_bytes);
  ledger.kv_byte_seconds = cost.page_seconds * page_bytes;
  return ledger;
}

}  // namespace thinkd::search
