#pragma once
// What a run cost. Every number but those marked "measured" follows from the run's own recipes, as
// if it had run alone with nothing cached; load, batching and caches cannot change them.
//
//   prompt_tokens      tokens that open, append and splice put into branches; a fork pays none
//   generated_tokens   tokens that extend drew, each once however many branches share it
//   discarded_tokens   of these: on no emitted candidate, and held by no branch any more
//   verifier_tokens    tokens that verifiers and the logprobs verb had the model read or draw
//   total_tokens       prompt + generated + verifier
//   flops              Engine::row_flops(position + 1) of each such token, once
//
// Plain values; VerbHost fills them. joules: nothing measures it yet.

#include <cstdint>
#include <optional>

#include "base/json.h"

namespace thinkd::search {

struct Ledger {
  uint64_t prompt_tokens = 0;
  uint64_t generated_tokens = 0;
  uint64_t discarded_tokens = 0;
  uint64_t rebuilt_tokens = 0;  // measured: rows computed again after an eviction
  uint64_t verifier_tokens = 0;
  uint64_t cached_tokens = 0;         // measured: rows that another query's pages served
  uint64_t prefill_saved_tokens = 0;  // measured: of the prompt, rows that were not computed
  uint64_t verifier_calls = 0;
  uint64_t longest_branch_tokens = 0;  // generated, ancestors included
  uint64_t flops = 0;
  double kv_byte_seconds = 0;    // measured
  double seconds_wall = 0;       // measured, from admission
  double seconds_waiting = 0;    // measured
  double seconds_computing = 0;  // measured, this run's share of steps
  std::optional<double> joules;  // measured; none where the machine does not tell

  uint64_t total_tokens() const { return prompt_tokens + generated_tokens + verifier_tokens; }
};

// The members in the contract's order.
OrderedJson to_json(const Ledger& ledger);
Ledger ledger_from_json(const Json& value);  // what to_json wrote; absent members are 0

}  // namespace thinkd::search
