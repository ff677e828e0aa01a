// The verbs that touch recipes alone. None of them waits for the engine.

#include <algorithm>

#include "search/prompt.h"
#include "search/verb_host.h"

namespace thinkd::search {

Result<BranchSlot*> VerbHost::idle_branch(sdk::BranchId id) {
  BranchSlot* slot = branches_.find(id.value);
  if (slot == nullptr) {
    return invalid("branch " + std::to_string(id.value) + " is unknown or was dropped");
  }
  if (slot->held_by) {
    return invalid("branch " + to_string(slot->path) + " is held by ticket " +
                   std::to_string(*slot->held_by) + ", which is not done");
  }
  return slot;
}

Status VerbHost::fits_context(uint64_t length, std::string_view what) const {
  const uint32_t context = setup_.engine.context();
  if (length >= context) {
    return over_limit(std::string(what) + " has " + std::to_string(length) +
                      " tokens; the context holds " + std::to_string(context) +
                      ", one of them for an answer");
  }
  return {};
}

Status VerbHost::open(const sdk::Open& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  THINKD_CHECK(branches_.room_for(1));
  const engine::LanguageModel& model = setup_.engine.model();
  Result<std::vector<engine::Token>> tokens = std::vector<engine::Token>();
  if (request.source == sdk::Source::tokens) {
    tokens = check_tokens(model, request.tokens);
  } else if (request.source == sdk::Source::text && !request.chat_template) {
    tokens = start_text(model, request.text);
  } else {
    std::vector<engine::Message> messages;
    for (const sdk::Message& message : request.messages) {
      messages.push_back({message.role, message.content});
    }
    if (request.source == sdk::Source::text) {
      messages = as_messages(request.text, "");
    }
    tokens = render_messages(model, messages);
  }
  if (!tokens) {
    return tokens.status();
  }
  THINKD_CHECK(fits_context(tokens->size(), "the prompt"));
  engine::Branch branch = setup_.engine.new_branch();
  branch.append(*tokens);
  engine::BranchPath path{{roots_}};
  const Sha256Digest recipe = branch.recipe_hash();
  THINKD_CHECK(pay(flops_of(0, tokens->size())));
  THINKD_CHECK(record(sdk::Verb::open, ticket, to_string(path), hash_of(request),
                      std::string(reinterpret_cast<const char*>(recipe.data()), recipe.size())));
  ++roots_;
  ledger_.prompt_tokens += tokens->size();
  const uint32_t length = branch.length();
  const uint64_t id = branches_.add({std::move(branch), path, Lineage(discards_)});
  Event event;
  event.kind = EventKind::opened;
  event.branch = to_string(path);
  event.tokens = length;
  tell(std::move(event));
  complete<sdk::Open>(ticket, {{id}, length}, path);
  return {};
}

Status VerbHost::append(const sdk::Append& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  Result<BranchSlot*> slot = idle_branch(request.branch);
  if (!slot) {
    return slot.status();
  }
  const engine::LanguageModel& model = setup_.engine.model();
  if (request.source == sdk::Source::messages) {
    return invalid("append: takes text or tokens, not messages");
  }
  const Result<std::vector<engine::Token>> tokens = request.source == sdk::Source::tokens
                                                        ? check_tokens(model, request.tokens)
                                                        : model.tokenizer->encode(request.text);
  if (!tokens) {
    return tokens.status();
  }
  engine::Branch& branch = (*slot)->branch;
  THINKD_CHECK(fits_context(branch.length() + tokens->size(),
                            "branch " + to_string((*slot)->path) + " with the text appended"));
  THINKD_CHECK(pay(flops_of(branch.length(), tokens->size())));
  ledger_.prompt_tokens += tokens->size();
  branch.append(*tokens);
  complete<sdk::Append>(ticket, {branch.length()}, (*slot)->path);
  return {};
}

Status VerbHost::fork(const sdk::Fork& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  Result<BranchSlot*> parent = idle_branch(request.branch);
  if (!parent) {
    return parent.status();
  }
  THINKD_CHECK(branches_.room_for(request.count));
  BranchSlot& from = **parent;  // a map's nodes stay where they are
  sdk::ForkResult result;
  for (uint32_t i = 0; i < request.count; ++i) {
    engine::BranchPath path = from.path;
    path.indices.push_back(from.forks++);
    BranchSlot child(from.branch, path, from.lineage);
    child.matcher = from.matcher;
    child.cut_bytes = from.cut_bytes;
    child.cut_by_longest = from.cut_by_longest;
    Event event;
    event.kind = EventKind::opened;
    event.branch = to_string(path);
    event.parent = to_string(from.path);
    event.tokens = from.branch.length();
    result.branches.push_back({branches_.add(std::move(child))});
    tell(std::move(event));
  }
  complete<sdk::Fork>(ticket, result, from.path);
  return {};
}

Status VerbHost::truncate(const sdk::Truncate& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  Result<BranchSlot*> found = idle_branch(request.branch);
  if (!found) {
    return found.status();
  }
  BranchSlot& slot = **found;
  THINKD_CHECK(slot.branch.truncate(request.length));
  slot.lineage.truncate(request.length);
  slot.matcher.reset();
  slot.cut_bytes = 0;
  slot.cut_by_longest = false;
  ++slot.epoch;
  slot.draws = 0;
  complete<sdk::Truncate>(ticket, {slot.branch.length()}, slot.path);
  return {};
}

void VerbHost::drop_branch(uint64_t id) {
  BranchSlot* slot = branches_.find(id);
  if (slot == nullptr) {
    return;
  }
  if (slot->held_by) {
    take_back(*slot);
  }
  if (!slot->candidate && !slot->pruned && slot->forks == 0 && slot->lineage.tokens() > 0) {
    Event event;
    event.kind = EventKind::pruned;
    event.branch = to_string(slot->path);
    tell(std::move(event));
  }
  branches_.drop(id);
}

// The query stands between two ticks while the strategy calls, so the work ends at the same tick
// whenever the run is made, resumed or replayed.
void VerbHost::take_back(BranchSlot& slot) {
  const auto held = std::find_if(works_.begin(), works_.end(), [&](const auto& work) {
    return work.second.verb == sdk::Verb::extend && work.second.ticket == *slot.held_by &&
           branches_.find(work.second.branch) == &slot;
  });
  if (held == works_.end()) {
    return;
  }
  const auto work = works_.extract(held);
  std::optional<engine::ExtendResult> result = query_->take_back(work.key());
  if (result) {
    finished_extend(work.mapped(), slot, *std::move(result), query_->tick());
    part_done(work.mapped().ticket, query_->tick());
  }
}

Status VerbHost::drop(const sdk::Drop& request) {
  if (over_) {
    return {};  // kept for outcome()
  }
  for (sdk::BranchId id : request.branches) {
    drop_branch(id.value);
  }
  return {};
}

Status VerbHost::splice(const sdk::Splice& request, uint64_t ticket) {
  THINKD_CHECK(may_work());
  Result<BranchSlot*> slot = idle_branch(request.branch);
  Result<BranchSlot*> source = idle_branch(request.source);
  if (!slot || !source) {
    return slot ? source.status() : slot.status();
  }
  if (request.live || request.placement == sdk::Placement::shifted) {
    return unavailable("splice: only frozen segments, end to end, are built yet");
  }
  const uint32_t length = (*source)->branch.length();
  const uint32_t left = request.first < length ? length - request.first : 0;
  const uint32_t count = request.count == sdk::kToEnd ? left : request.count;
  if (count > left) {
    return invalid("splice: tokens " + std::to_string(request.first) + " and " +
                   std::to_string(count) + " more are past the end of branch " +
                   to_string((*source)->path) + ", which has " + std::to_string(length));
  }
  engine::Branch& branch = (*slot)->branch;
  THINKD_CHECK(fits_context(uint64_t{branch.length()} + count,
                            "branch " + to_string((*slot)->path) + " with what is spliced in"));
  // As if alone: what another branch has computed already is paid for again.
  THINKD_CHECK(pay(flops_of(branch.length(), count)));
  THINKD_CHECK(branch.splice((*source)->branch, request.first, count));
  ledger_.prompt_tokens += count;
  if (!branch.exact()) {
    approximate_.insert("splice");
  }
  complete<sdk::Splice>(ticket, {branch.length()}, (*slot)->path);
  return {};
}

Status VerbHost::tokens(const sdk::Tokens& request, uint64_t ticket) {
  Result<BranchSlot*> slot = idle_branch(request.branch);
  if (!slot) {
    return slot.status();
  }
  const engine::Branch& branch = (*slot)->branch;
  const uint32_t first = std::min(request.first, branch.length());
  const uint32_t count = std::min(request.count, branch.length() - first);
  complete<sdk::Tokens>(ticket, {branch.tokens(first, count)}, (*slot)->path);
  return {};
}

Status VerbHost::text(const sdk::Text& request, uint64_t ticket) {
  Result<BranchSlot*> slot = idle_branch(request.branch);
  if (!slot) {
    return slot.status();
  }
  const uint32_t length = (*slot)->branch.length();
  const uint32_t first = std::min(request.first, length);
  const uint32_t count = std::min(request.count, length - first);
  complete<sdk::Text>(ticket, {decoded(**slot, first, count)}, (*slot)->path);
  return {};
}

std::string VerbHost::decoded(const BranchSlot& slot, uint32_t first, uint32_t count) const {
  return setup_.engine.model().tokenizer->decode(slot.branch.tokens(first, count), false);
}

// What a branch and its ancestors have generated, without the stop text that ended the last piece.
std::string VerbHost::generated_text(const BranchSlot& slot) const {
  std::string text;
  for (const auto& [first, count] : slot.lineage.ranges()) {
    text += decoded(slot, first, count);
  }
  text.resize(text.size() - std::min<uint64_t>(text.size(), slot.cut_bytes));
  return text;
}

}  // namespace thinkd::search
