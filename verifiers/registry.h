#pragma once
// The verifiers that exist, by name: what `thinkd verifiers` lists and --verifier takes. Built
// once, immutable afterwards, safe from every thread. Entries whose role is grader cannot be asked
// for a Verifier, so `--verifier exact` is refused instead of leaking the reference into the
// choice.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "verifiers/state_scorer.h"
#include "verifiers/verifier.h"

namespace thinkd::verifiers {

// Parameters as name and text, as in "name:param=value".
using Parameters = std::map<std::string, std::string, std::less<>>;

struct VerifierInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<Role> roles;
  std::string description;  // one line
  std::string parameters;   // JSON Schema, an object
  std::string source;       // where the algorithm comes from
  std::function<Result<std::shared_ptr<const Verifier>>(const Parameters&)> make_verifier;
  std::function<Result<std::shared_ptr<const Grader>>(const Parameters&)> make_grader;
  bool needs_numbers = false;  // judges Countdown problems only
  bool reads_states = false;   // scores by `state_scorer`, which needs a branch; not by its text
  std::shared_ptr<const StateScorer> state_scorer{};  // null until a model that has one is loaded

  bool has(Role role) const;
};

// What judges under a name: one of the two is there.
struct Judge {
  std::shared_ptr<const Verifier> texts;
  std::shared_ptr<const StateScorer> states;
};

class Verifiers {
 public:
  // With the built-in ones.
  Verifiers();

  // By name or alias; nullptr where there is none.
  const VerifierInfo* find(std::string_view name) const;
  const std::vector<VerifierInfo>& list() const { return entries_; }

  // conflict: the name is taken. Only before the registry is shared.
  Status add(VerifierInfo info);

  // The loaded model's own scorer: from now on step_scorer, and the default. Only before the
  // registry is shared.
  void attach(std::shared_ptr<const StateScorer> scorer);
  const StateScorer* attached() const;  // null where the model has none

  // What scores where nobody said by what: the model's own scorer, else mean_logprob.
  std::string_view default_scorer() const;

  // not_found names what exists; invalid names an unknown parameter or a grader asked to choose;
  // unavailable: step_scorer, and the model has none.
  Result<Judge> judge(std::string_view name, const Parameters& parameters = {}) const;
  Result<std::shared_ptr<const Grader>> grader(std::string_view name,
                                               const Parameters& parameters = {}) const;

 private:
  std::vector<VerifierInfo> entries_;
};

}  // namespace thinkd::verifiers
