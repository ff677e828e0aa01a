#include "search/ledger.h"

#include <nlohmann/json.hpp>

namespace thinkd::search {

OrderedJson to_json(const Ledger& ledger) {
  OrderedJson out;
  out["prompt_tokens"] = ledger.prompt_tokens;
  out["generated_tokens"] = ledger.generated_tokens;
  out["discarded_tokens"] = ledger.discarded_tokens;
  out["rebuilt_tokens"] = ledger.rebuilt_tokens;
  out["verifier_tokens"] = ledger.verifier_tokens;
  out["cached_tokens"] = ledger.cached_tokens;
  out["prefill_saved_tokens"] = ledger.prefill_saved_tokens;
  out["total_tokens"] = ledger.total_tokens();
  out["verifier_calls"] = ledger.verifier_calls;
  out["longest_branch_tokens"] = ledger.longest_branch_tokens;
  out["flops"] = ledger.flops;
  out["kv_byte_seconds"] = ledger.kv_byte_seconds;
  out["seconds_wall"] = ledger.seconds_wall;
  out["seconds_waiting"] = ledger.seconds_waiting;
  out["seconds_computing"] = ledger.seconds_computing;
  out["joules"] = ledger.joules ? OrderedJson(*ledger.joules) : OrderedJson();
  return out;
}

Ledger ledger_from_json(const Json& value) {
  const auto count = [&](const char* name) -> uint64_t {
    const auto found = value.find(name);
    return found != value.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
  };
  const auto real = [&](const char* name) -> double {
    const auto found = value.find(name);
    return found != value.end() && found->is_number() ? found->get<double>() : 0;
  };
  Ledger ledger;
  if (!value.is_object()) {
    return ledger;
  }
  ledger.prompt_tokens = count("prompt_tokens");
  ledger.generated_tokens = count("generated_tokens");
  ledger.discarded_tokens = count("discarded_tokens");
  ledger.rebuilt_tokens = count("rebuilt_tokens");
  ledger.verifier_tokens = count("verifier_tokens");
  ledger.cached_tokens = count("cached_tokens");
  ledger.prefill_saved_tokens = count("prefill_saved_tokens");
  ledger.verifier_calls = count("verifier_calls");
  ledger.longest_branch_tokens = count("longest_branch_tokens");
  ledger.flops = count("flops");
  ledger.kv_byte_seconds = real("kv_byte_seconds");
  ledger.seconds_wall = real("seconds_wall");
  ledger.seconds_waiting = real("seconds_waiting");
  ledger.seconds_computing = real("seconds_computing");
  if (value.contains("joules") && value["joules"].is_number()) {
    ledger.joules = value["joules"].get<double>();
  }
  return ledger;
}

}  // namespace thinkd::search
