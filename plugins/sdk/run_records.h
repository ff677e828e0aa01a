#pragma once
// The records of the verbs that work on the run: verify, random, now, emit, and what a strategy is
// started with. Plain values without thread rule.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/sdk/values.h"
#include "plugins/sdk/verbs.h"

namespace thinkd::sdk {

struct VerifyResult {
  std::vector<Verdict> verdicts{};  // one a branch, else one a text
  static void each_field(auto& self, auto&& field) { field("verdicts", self.verdicts); }
};

// Branches are judged by what they have generated. Either branches or texts. Scores of branches are
// reported as events by the host; nobody emits them again.
struct Verify {
  static constexpr Verb kVerb = Verb::verify;
  using Result = VerifyResult;
  std::vector<BranchId> branches{};
  std::vector<std::string> texts{};
  std::string verifier{};  // "name" or "name:param=value"; empty: the default scorer
  static void each_field(auto& self, auto&& field) {
    field("branches", self.branches);
    field("texts", self.texts);
    field("verifier", self.verifier);
  }
};

struct RandomResult {
  std::vector<double> uniforms{};  // in [0, 1)
  static void each_field(auto& self, auto&& field) { field("uniforms", self.uniforms); }
};

// The next `count` numbers of the run's own stream, apart from those that draw tokens.
struct Random {
  static constexpr Verb kVerb = Verb::random;
  using Result = RandomResult;
  uint32_t count = 1;
  static void each_field(auto& self, auto&& field) { field("count", self.count); }
};

struct NowResult {
  double seconds = 0;                    // since the run began
  std::optional<double> seconds_left{};  // absent: no such budget
  std::optional<uint64_t> tokens_left{};
  std::optional<uint64_t> samples_left{};
  std::optional<uint64_t> verifier_calls_left{};
  uint64_t tick = 0;
  static void each_field(auto& self, auto&& field) {
    field("seconds", self.seconds);
    field("seconds_left", self.seconds_left);
    field("tokens_left", self.tokens_left);
    field("samples_left", self.samples_left);
    field("verifier_calls_left", self.verifier_calls_left);
    field("tick", self.tick);
  }
};

struct Now {
  static constexpr Verb kVerb = Verb::now;
  using Result = NowResult;
  static void each_field(auto&, auto&&) {}
};

enum class Event : uint8_t {
  answer_by,  // rule, weighting: from now on, over all candidates of the run
  candidate,  // branch, score, text: a finished sample
  scored,     // branch, score: one that the strategy made itself
  pruned,     // branch: given up by the strategy
  note,       // text, branch where there is one
};
constexpr Event last_value(Event) { return Event::note; }

// One-way.
struct Emit {
  static constexpr Verb kVerb = Verb::emit;
  Event event = Event::note;
  BranchId branch{};  // value 0: none
  std::optional<double> score{};
  std::string text{};  // candidate: empty means what the branch has generated
  AnswerRule rule = AnswerRule::first;
  Weighting weighting = Weighting::raw;
  static void each_field(auto& self, auto&& field) {
    field("event", self.event);
    field("branch", self.branch);
    field("score", self.score);
    field("text", self.text);
    field("rule", self.rule);
    field("weighting", self.weighting);
  }
};

// What a strategy is started with.
struct RunRequest {
  static constexpr Verb kVerb = Verb::run;
  std::vector<Message> messages{};  // system, task prompt, question
  std::string question{};           // as asked
  std::string task{};               // empty: none
  std::vector<Param> params{};      // what the user set; defaults are the strategy's own
  SamplingOverrides sampling{};
  uint32_t context = 0;      // tokens a branch may have
  bool step_scorer = false;  // the model has a scorer of its own, which judges steps
  static void each_field(auto& self, auto&& field) {
    field("messages", self.messages);
    field("question", self.question);
    field("task", self.task);
    field("params", self.params);
    field("sampling", self.sampling);
    field("context", self.context);
    field("step_scorer", self.step_scorer);
  }
};

}  // namespace thinkd::sdk
