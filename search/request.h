#pragma once
// What a run is asked to do: the question, the strategy and its parameters, the budget, the seed.
// Read from command-line text and from JSON (RPC, jobs, the store) by the same rules; an error
// names the member, what it must be and the range. to_json() of what was read reads back equal.
// Plain values: no owner, no thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "engine/chat/chat_template.h"
#include "verifiers/verifier.h"

namespace thinkd::search {

// A strategy as the user names it. Written `name:param=value,param=value+attachment:param=value`; a
// value that holds , + or : is a JSON string. As JSON { "name", "params", "attach": [...] }.
struct StrategySpec {
  std::string name;
  std::string params = "{}";         // a JSON object, keys sorted
  std::vector<StrategySpec> attach;  // leftmost innermost; an attachment has none of its own
};

Result<StrategySpec> parse_strategy(std::string_view text);
Result<StrategySpec> strategy_from_json(const Json& value);  // text or object
Json to_json(const StrategySpec& spec);
std::string strategy_text(const StrategySpec& spec);  // as typed

// Where a run must end. What is not set is not bounded.
struct Budget {
  std::optional<uint64_t> tokens;   // generated tokens, all branches together
  std::optional<uint64_t> longest;  // generated tokens on any one branch, ancestors included
  std::optional<uint64_t> verifier_calls;
  std::optional<uint64_t> flops;    // as the ledger counts them; never passed
  std::optional<uint64_t> samples;  // candidates the run may finish
  std::optional<uint64_t> pages;    // page quota; default: a configured share of the pool
  std::optional<double> seconds;    // deadline, from admission
};

Result<Budget> parse_budget(std::string_view text);  // "tokens=N,seconds=S"
Result<Budget> budget_from_json(const Json& value);
Json to_json(const Budget& budget);

// Set members replace what a sampling strategy would use; stop texts are added to the strategy's
// own.
struct SamplingOverrides {
  std::optional<double> temperature;         // 0..100
  std::optional<double> top_p;               // 1e-6..1
  std::optional<double> min_p;               // [0, 1]
  std::optional<uint64_t> top_k;             // 0: off
  std::optional<double> repetition_penalty;  // 0.1..10
  std::optional<uint64_t> max_tokens;        // new tokens a sample
  std::vector<std::string> stop;             // at most limits::kStopTexts
};

struct Request {
  std::vector<engine::Message> messages;
  std::string task;              // "gsm8k", "countdown", "math", "choice", "text"; "" for none
  std::vector<int64_t> numbers;  // Countdown tasks only
  int64_t target = 0;            // idem
  bool use_any = false;          // idem: a number at most once instead of exactly once
  StrategySpec strategy{"greedy", "{}", {}};
  Budget budget;
  std::string verifier;  // "name" or "name:param=value"; "" for none
  SamplingOverrides sampling;
  std::optional<uint64_t> seed;  // Runs draws one where it is missing
  std::string run_id;            // idem; [A-Za-z0-9_.-], at most limits::kRunIdBytes
  std::string problem_id;        // with `sample`: the stream of random numbers
  uint64_t sample = 0;
  bool detach = false;  // lives on when its caller goes
  bool trace = true;    // is recorded in the store, where there is one
  int32_t priority = 0;
};

// Members: question | messages, system, task, numbers, target, use, strategy, budget, verifier,
// temperature, top_p, min_p, top_k, repetition_penalty, max_tokens, stop, seed, run_id, problem_id,
// sample, detach, trace, priority.
// Tasks countdown and game24 need numbers and target (game24: 24 where it is missing); without a
// question they are asked as countdown_prompt.h puts it.
// An unknown or ill-typed member is `invalid` and named.
Result<Request> request_from_json(const Json& value);
Json to_json(const Request& request);

// One user message, with a system message before it where there is one.
std::vector<engine::Message> as_messages(std::string_view question, std::string_view system);

// The last user message, and what a verifier may know of the problem.
std::string question_of(const Request& request);
verifiers::Problem problem_of(const Request& request);

// The stream of random numbers: problem id and sample index, no strategy name.
std::string stream_of(const Request& request);

// Sixteen random bytes in hex.
std::string new_run_id();

}  // namespace thinkd::search
