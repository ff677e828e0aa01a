#pragma once
// What a run gives back: the answer, the candidates it was chosen from, and the bill. choose() is
// the one rule by which an answer comes out of the candidates emitted so far: best-so-far while the
// run thinks and the final answer are the same function.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "plugins/sdk/values.h"
#include "search/ledger.h"
#include "search/request.h"

namespace thinkd::search {

// How an answer is chosen: what a strategy says once. Ties go to the earliest candidate, votes are
// over classes of equal answers, a candidate without an answer abstains. Where the run has a
// verifier and it found candidates correct, only these stand; the rule then decides among them.
struct Rule {
  sdk::AnswerRule by = sdk::AnswerRule::first;
  sdk::Weighting weighting = sdk::Weighting::raw;  // how weighted_vote makes a weight of a score
};

struct Candidate {
  std::optional<std::string> answer;  // extracted; none where the text holds none
  std::string text;                   // generated, prompt excluded
  std::optional<double> score;
  std::optional<std::string> verdict;  // of the run's verifier: "correct", "wrong", ...
  uint64_t tokens = 0;                 // generated on its branch, ancestors included
  std::string branch;                  // path, "0.3.1"
  bool cut = false;                    // ended by the budget's `longest`; not part of the JSON
};

struct Chosen {
  std::optional<size_t> candidate;  // index; none where nothing was emitted or all abstain
  std::optional<std::string> answer;
  std::optional<double> confidence;  // share of the candidates that give this answer
  std::string confidence_kind;       // "vote_share", "weighted_vote_share"; "" for none
};

// `whole_text`: a candidate without an extracted answer may stand with its trimmed text, where no
// candidate has an answer (questions that name no task).
Chosen choose(Rule rule, std::span<const Candidate> candidates, bool whole_text);

struct Answer {
  std::optional<std::string> answer;
  std::optional<double> confidence;
  std::string confidence_kind;
  std::string stopped_by =
      "done";  // done|tokens|longest|seconds|samples|verifier_calls|flops|cancelled
  std::vector<Candidate> candidates;
  std::optional<size_t> chosen;  // index in candidates; not part of the JSON
  Ledger ledger;
  uint64_t seed = 0;
  std::string run_id;
  bool reproducible_from_seed = true;  // else from its trace: clock or cancel had a say
  std::string model_name;
  std::string model_sha256;
  std::string model_quantization;
  StrategySpec strategy;
  std::vector<std::string> approximate;  // empty: exact
};

// The contract's members in its order.
OrderedJson to_json(const Answer& answer);
// What to_json wrote; corrupt names the member.
Result<Answer> answer_from_json(const Json& value);

}  // namespace thinkd::search
