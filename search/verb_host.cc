#include "search/verb_host.h"

#include <algorithm>

#include "base/limits.h"

namespace thinkd::search {
namespace {

Status run_is_over() { return cancelled("the run is over"); }

thinkd_status status_of(Code code) {
  switch (code) {
    case Code::ok:
      return THINKD_OK;
    case Code::invalid:
    case Code::not_found:
      return THINKD_INVALID;
    case Code::limit:
      return THINKD_LIMIT;
    case Code::unavailable:
      return THINKD_UNAVAILABLE;
    case Code::cancelled:
      return THINKD_STOPPED;
    default:
      return THINKD_FAILED;
  }
}

sdk::RunRequest run_request(const HostSetup& setup) {
  const Request& request = setup.request;
  sdk::RunRequest out;
  for (const engine::Message& message : request.messages) {
    out.messages.push_back({message.role, message.content});
  }
  out.question = question_of(request);
  out.task = request.task;
  out.params = setup.params;
  out.context = setup.engine.context();
  out.step_scorer = setup.verifiers.attached() != nullptr;
  const SamplingOverrides& sampling = request.sampling;
  const auto as_float = [](const std::optional<double>& value) {
    return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
  };
  const auto as_u32 = [](const std::optional<uint64_t>& value) {
    return value ? std::optional(static_cast<uint32_t>(*value)) : std::nullopt;
  };
  out.sampling.temperature = as_float(sampling.temperature);
  out.sampling.top_p = as_float(sampling.top_p);
  out.sampling.min_p = as_float(sampling.min_p);
  out.sampling.top_k = as_u32(sampling.top_k);
  out.sampling.repetition_penalty = as_float(sampling.repetition_penalty);
  out.sampling.max_tokens = as_u32(sampling.max_tokens);
  out.sampling.stops = sampling.stop;
  return out;
}

}  // namespace

Result<std::unique_ptr<VerbHost>> VerbHost::create(HostSetup setup, Journal journal) {
  std::optional<StopPoint> stop;
  const auto entry = journal.logged_stop();
  if (entry) {
    Result<StopPoint> point = decode_stop(entry->second);
    if (!point) {
      return point.status();
    }
    stop = *point;
  }
  auto host = std::make_unique<VerbHost>(std::move(setup), std::move(journal));
  engine::QueryOptions options;
  options.page_quota = host->setup_.page_quota;
  options.priority = host->setup_.request.priority;
  options.token_allowance = host->setup_.request.budget.tokens.value_or(UINT64_MAX);
  options.flops_allowance = host->setup_.request.budget.flops.value_or(UINT64_MAX);
  if (stop) {
    host->logged_stop_ = stop;
    host->logged_stop_index_ = entry->first;
    if (stop->at_tick) {
      options.stop_at = stop->tick;
    }
  }
  host->query_ = host->setup_.engine.new_query(options);
  return host;
}

VerbHost::VerbHost(HostSetup setup, Journal journal)
    : setup_(std::move(setup)),
      journal_(std::move(journal)),
      stream_(stream_of(setup_.request)),
      problem_(problem_of(setup_.request)) {}

VerbHost::~VerbHost() = default;

void VerbHost::request_stop(StopReason reason) {
  if (logged_stop_ && reason != StopReason::interrupted) {
    return;  // it ends where the interrupted run was stopped
  }
  StopReason none = StopReason::none;
  if (outside_.compare_exchange_strong(none, reason)) {
    query_->stop();
  }
}

Outcome VerbHost::run(const thinkd_strategy& strategy) {
  const sdk::Bytes request = sdk::encode(run_request(setup_));
  thinkd_host table{};
  table.struct_size = sizeof(table);
  table.abi_minor = THINKD_ABI_MINOR;
  table.context = this;
  table.submit = &VerbHost::table_submit;
  table.wait = &VerbHost::table_wait;
  table.error = &VerbHost::table_error;
  table.fail = &VerbHost::table_fail;
  return outcome(strategy.run(strategy.self, &table, request.data(), request.size()));
}

thinkd_status VerbHost::answer_with(const Status& status) {
  error_ = status.message();
  return status_of(status.code());
}

thinkd_status VerbHost::table_submit(void* self, const uint8_t* record, size_t size,
                                     uint64_t* ticket) {
  auto& host = *static_cast<VerbHost*>(self);
  uint64_t given = 0;
  const Status status = host.submit({record, size}, given);
  if (status.ok() && ticket != nullptr) {
    *ticket = given;
  }
  return host.answer_with(status);
}

thinkd_status VerbHost::table_wait(void* self, const uint64_t* tickets, size_t count,
                                   uint32_t until, thinkd_sink sink, void* context) {
  auto& host = *static_cast<VerbHost*>(self);
  if (count == 0 || tickets == nullptr || until > THINKD_ALL || sink == nullptr) {
    return host.answer_with(invalid("wait: needs tickets, any or all, and a sink"));
  }
  return host.answer_with(host.wait({tickets, count}, until == THINKD_ANY, sink, context));
}

const char* VerbHost::table_error(void* self) {
  return static_cast<VerbHost*>(self)->error_.c_str();
}

void VerbHost::table_fail(void* self, const char* text, size_t size) {
  static_cast<VerbHost*>(self)->fail_text_.assign(text, size);
}

Status VerbHost::submit(std::span<const uint8_t> record, uint64_t& ticket) {
  ++calls_;
  if (record.size() > limits::kRecordBytes) {
    return over_limit("a record of " + std::to_string(record.size()) + " bytes; at most " +
                      std::to_string(limits::kRecordBytes));
  }
  const sdk::Decoded<sdk::Header> header = sdk::peek(record);
  if (!header.ok()) {
    return invalid(header.fault);
  }
  const auto verb = static_cast<sdk::Verb>(header.value.verb);
  if (header.ticket != 0) {
    return invalid("a request has ticket 0, this one " + std::to_string(header.ticket));
  }
  if (over_ && verb != sdk::Verb::drop) {
    return run_is_over();
  }
  const bool one_way = verb == sdk::Verb::drop || verb == sdk::Verb::emit;
  const Status status = dispatch(verb, record, next_ticket_);
  live_ = branches_.live();
  if (status.code() == Code::cancelled) {
    over_ = true;
    return status;
  }
  if (!status.ok()) {
    pending_.erase(next_ticket_);
    return status;
  }
  ticket = one_way ? 0 : next_ticket_++;
  return {};
}

template <class R>
Status VerbHost::take(std::span<const uint8_t> record, uint64_t ticket,
                      Status (VerbHost::*verb)(const R&, uint64_t)) {
  const sdk::Decoded<R> decoded = sdk::decode<R>(record);
  return decoded.ok() ? (this->*verb)(decoded.value, ticket) : invalid(decoded.fault);
}

Status VerbHost::dispatch(sdk::Verb verb, std::span<const uint8_t> record, uint64_t ticket) {
  using sdk::Verb;
  switch (verb) {
    case Verb::open:
      return take<sdk::Open>(record, ticket, &VerbHost::open);
    case Verb::append:
      return take<sdk::Append>(record, ticket, &VerbHost::append);
    case Verb::extend:
      return take<sdk::Extend>(record, ticket, &VerbHost::extend);
    case Verb::logprobs:
      return take<sdk::Logprobs>(record, ticket, &VerbHost::logprobs);
    case Verb::hidden:
      return take<sdk::Hidden>(record, ticket, &VerbHost::hidden);
    case Verb::tokens:
      return take<sdk::Tokens>(record, ticket, &VerbHost::tokens);
    case Verb::text:
      return take<sdk::Text>(record, ticket, &VerbHost::text);
    case Verb::fork:
      return take<sdk::Fork>(record, ticket, &VerbHost::fork);
    case Verb::truncate:
      return take<sdk::Truncate>(record, ticket, &VerbHost::truncate);
    case Verb::splice:
      return take<sdk::Splice>(record, ticket, &VerbHost::splice);
    case Verb::verify:
      return take<sdk::Verify>(record, ticket, &VerbHost::verify);
    case Verb::random:
      return take<sdk::Random>(record, ticket, &VerbHost::random);
    case Verb::now:
      return take<sdk::Now>(record, ticket, &VerbHost::now);
    case Verb::drop: {
      const sdk::Decoded<sdk::Drop> request = sdk::decode<sdk::Drop>(record);
      return request.ok() ? drop(request.value) : invalid(request.fault);
    }
    case Verb::emit: {
      const sdk::Decoded<sdk::Emit> request = sdk::decode<sdk::Emit>(record);
      return request.ok() ? emit(request.value) : invalid(request.fault);
    }
    case Verb::recall:
    case Verb::remember:
      return unavailable(std::string(sdk::verb_name(verb)) + ": this build has no memory verbs");
    case Verb::run:
      break;
  }
  return invalid("verb " + std::to_string(static_cast<unsigned>(verb)) +
                 " cannot be submitted; verbs are 1 to " +
                 std::to_string(static_cast<unsigned>(Verb::emit)));
}

uint64_t VerbHost::first_done(std::span<const uint64_t> tickets) const {
  uint64_t first = 0;
  for (uint64_t ticket : tickets) {
    const Pending& pending = pending_.at(ticket);
    if (!pending.done()) {
      continue;
    }
    const Pending* best = first == 0 ? nullptr : &pending_.at(first);
    if (best == nullptr ||
        std::tie(pending.tick, pending.path, ticket) < std::tie(best->tick, best->path, first)) {
      first = ticket;
    }
  }
  return first;
}

void VerbHost::give(uint64_t ticket, thinkd_sink sink, void* context) {
  const sdk::Bytes result = std::move(pending_.at(ticket).result);
  pending_.erase(ticket);
  sink(context, result.data(), result.size());
}

Status VerbHost::wait(std::span<const uint64_t> tickets, bool any, thinkd_sink sink,
                      void* context) {
  ++calls_;
  if (over_) {
    return run_is_over();
  }
  std::set<uint64_t> seen;
  for (uint64_t ticket : tickets) {
    if (!pending_.contains(ticket) || !seen.insert(ticket).second) {
      return invalid("wait: ticket " + std::to_string(ticket) +
                     (pending_.contains(ticket) ? " is named twice" : " is unknown"));
    }
  }
  const uint64_t tick_at_call = query_->tick();
  std::vector<uint64_t> left(tickets.begin(), tickets.end());
  while (true) {
    if (!failure_.ok()) {
      over_ = true;
      return run_is_over();
    }
    const auto done = [&](uint64_t ticket) { return pending_.at(ticket).done(); };
    if (any && std::any_of(left.begin(), left.end(), done)) {
      give(first_done(left), sink, context);
      return {};
    }
    if (!any && std::all_of(left.begin(), left.end(), done)) {
      while (!left.empty()) {
        const uint64_t ticket = first_done(left);
        give(ticket, sink, context);
        std::erase(left, ticket);
      }
      return {};
    }
    if (const Status status = may_work(); !status.ok()) {
      over_ = true;
      return status;
    }
    if (works_.empty()) {
      return internal_error("wait: nothing runs that could give a result");
    }
    advance(left, any, tick_at_call);
    live_ = branches_.live();
  }
}

void VerbHost::advance(std::span<const uint64_t> tickets, bool any, uint64_t tick_at_call) {
  std::vector<engine::WorkId> wanted;
  for (const auto& [id, work] : works_) {
    if (std::find(tickets.begin(), tickets.end(), work.ticket) != tickets.end()) {
      wanted.push_back(id);
    }
  }
  query_->advance(wanted, any ? engine::Until::any : engine::Until::all,
                  [&](engine::Finished done) { finished(std::move(done), tick_at_call); });
}

Status VerbHost::may_work() {
  if (over_ || reason_ != StopReason::none || !failure_.ok()) {
    return run_is_over();
  }
  if (setup_.request.budget.samples && candidates_.size() >= *setup_.request.budget.samples) {
    stop_because(StopReason::samples);
    return run_is_over();
  }
  if (logged_stop_ && !logged_stop_->at_tick && !stop_noted_ && calls_ == logged_stop_->call &&
      journal_.next_index() == logged_stop_index_) {
    query_->stop();
    note_outside_stop(*logged_stop_);
    return run_is_over();
  }
  const StopReason outside = outside_.load();
  if (outside != StopReason::none) {
    note_outside_stop({outside, false, query_->tick(), calls_});
    return run_is_over();
  }
  return {};
}

void VerbHost::note_outside_stop(StopPoint point) {
  if (stop_noted_) {
    return;
  }
  stop_noted_ = true;
  stop_because(point.reason);
  if (point.reason == StopReason::interrupted) {
    return;
  }
  static_cast<void>(keep(journal_.add(kStopEntry, 0, "", Sha256Digest{}, encode(point))));
}

Status VerbHost::record(sdk::Verb verb, uint64_t ticket, std::string branch,
                        const Sha256Digest& arguments, std::string payload) {
  if (!failure_.ok()) {
    return run_is_over();
  }
  if (collecting_ || reason_ == StopReason::interrupted) {
    return {};
  }
  return keep(journal_.add(static_cast<uint16_t>(verb), ticket, std::move(branch), arguments,
                           std::move(payload)));
}

Status VerbHost::keep(const Status& status) {
  if (!status.ok() && failure_.ok()) {
    failure_ = status;
  }
  return status.ok() ? status : run_is_over();
}

}  // namespace thinkd::search
