#pragma once
// The records of the verbs that work on branches: open to splice. Plain values without thread rule.

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/sdk/values.h"
#include "plugins/sdk/verbs.h"

namespace thinkd::sdk {

enum class Source : uint8_t { messages, text, tokens };
constexpr Source last_value(Source) { return Source::tokens; }

struct BranchResult {
  BranchId branch{};
  uint32_t length = 0;  // tokens of the branch
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("length", self.length);
  }
};

// Opens a root branch; roots are counted 0, 1, ... in a run. Text with chat_template is one user
// message.
struct Open {
  static constexpr Verb kVerb = Verb::open;
  using Result = BranchResult;
  Source source = Source::messages;
  std::vector<Message> messages{};
  std::string text{};
  std::vector<uint32_t> tokens{};
  bool chat_template = true;
  static void each_field(auto& self, auto&& field) {
    field("source", self.source);
    field("messages", self.messages);
    field("text", self.text);
    field("tokens", self.tokens);
    field("chat_template", self.chat_template);
  }
};

struct LengthResult {
  uint32_t length = 0;
  static void each_field(auto& self, auto&& field) { field("length", self.length); }
};

// Adds given tokens, or text tokenised alone. Appended tokens are not generated text.
struct Append {
  static constexpr Verb kVerb = Verb::append;
  using Result = LengthResult;
  BranchId branch{};
  Source source = Source::text;  // text or tokens
  std::string text{};
  std::vector<uint32_t> tokens{};
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("source", self.source);
    field("text", self.text);
    field("tokens", self.tokens);
  }
};

// What one branch gained.
struct Extended {
  BranchId branch{};
  End end = End::max_tokens;
  std::vector<uint32_t> tokens{};  // of this call
  std::vector<double> logprobs{};  // the model's own, of each of them
  std::string text{};              // of this call, cut before a stop text; no control tokens
  double sum_logprob = 0;          // over this call
  double total_logprob = 0;  // over all that the branch has generated, its ancestors' part included
  uint32_t total_tokens = 0;    // tokens generated, counted alike
  uint32_t length = 0;          // tokens of the branch, prompt included
  uint64_t tick = 0;            // of the run's clock, when it ended
  std::vector<float> hidden{};  // where asked for: of the last token
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("end", self.end);
    field("tokens", self.tokens);
    field("logprobs", self.logprobs);
    field("text", self.text);
    field("sum_logprob", self.sum_logprob);
    field("total_logprob", self.total_logprob);
    field("total_tokens", self.total_tokens);
    field("length", self.length);
    field("tick", self.tick);
    field("hidden", self.hidden);
  }
};

struct ExtendResult {
  std::vector<Extended> branches{};  // in the request's order
  static void each_field(auto& self, auto&& field) { field("branches", self.branches); }
};

// Generates. One result for all its branches, when the last has ended; to hear of each as it ends,
// submit one record a branch before waiting.
struct Extend {
  static constexpr Verb kVerb = Verb::extend;
  using Result = ExtendResult;
  std::vector<BranchId> branches{};
  uint32_t max_tokens = 0;  // 0: up to the context
  std::vector<std::string> stops{};
  Sampling sampling{};
  bool hidden_at_stop = false;
  static void each_field(auto& self, auto&& field) {
    field("branches", self.branches);
    field("max_tokens", self.max_tokens);
    field("stops", self.stops);
    field("sampling", self.sampling);
    field("hidden_at_stop", self.hidden_at_stop);
  }
};

struct BranchLogprobs {
  BranchId branch{};
  std::vector<TokenLogprob> tokens{};
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("tokens", self.tokens);
  }
};

struct LogprobsResult {
  std::vector<BranchLogprobs> branches{};
  static void each_field(auto& self, auto&& field) { field("branches", self.branches); }
};

// Log-probs of a continuation that is not added: tokens, or text tokenised alone.
struct Logprobs {
  static constexpr Verb kVerb = Verb::logprobs;
  using Result = LogprobsResult;
  std::vector<BranchId> branches{};
  Source source = Source::tokens;  // text or tokens
  std::string text{};
  std::vector<uint32_t> tokens{};
  uint32_t top_k = 0;
  static void each_field(auto& self, auto&& field) {
    field("branches", self.branches);
    field("source", self.source);
    field("text", self.text);
    field("tokens", self.tokens);
    field("top_k", self.top_k);
  }
};

struct BranchHidden {
  BranchId branch{};
  std::vector<float> state{};
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("state", self.state);
  }
};

struct HiddenResult {
  std::vector<BranchHidden> branches{};
  static void each_field(auto& self, auto&& field) { field("branches", self.branches); }
};

// The last layer's state after the final norm, of the token at `position` of each branch.
struct Hidden {
  static constexpr Verb kVerb = Verb::hidden;
  using Result = HiddenResult;
  std::vector<BranchId> branches{};
  uint32_t position = kLast;
  static void each_field(auto& self, auto&& field) {
    field("branches", self.branches);
    field("position", self.position);
  }
};

struct TokensResult {
  std::vector<uint32_t> tokens{};
  static void each_field(auto& self, auto&& field) { field("tokens", self.tokens); }
};

// Tokens of the branch by position, prompt included; a range past the end is cut there.
struct Tokens {
  static constexpr Verb kVerb = Verb::tokens;
  using Result = TokensResult;
  BranchId branch{};
  uint32_t first = 0;
  uint32_t count = kToEnd;
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("first", self.first);
    field("count", self.count);
  }
};

struct TextResult {
  std::string text{};
  static void each_field(auto& self, auto&& field) { field("text", self.text); }
};

// The text of such a range, stop texts included, control tokens left out; bytes as they are.
struct Text {
  static constexpr Verb kVerb = Verb::text;
  using Result = TextResult;
  BranchId branch{};
  uint32_t first = 0;
  uint32_t count = kToEnd;
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("first", self.first);
    field("count", self.count);
  }
};

struct ForkResult {
  std::vector<BranchId> branches{};
  static void each_field(auto& self, auto&& field) { field("branches", self.branches); }
};

// Children of a branch, which stays. A branch counts its forks: the k-th ever made has path
// "<its>.k".
struct Fork {
  static constexpr Verb kVerb = Verb::fork;
  using Result = ForkResult;
  BranchId branch{};
  uint32_t count = 1;
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("count", self.count);
  }
};

// Cuts a branch to `length` tokens; its next draws come from a new epoch.
struct Truncate {
  static constexpr Verb kVerb = Verb::truncate;
  using Result = LengthResult;
  BranchId branch{};
  uint32_t length = 0;
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("length", self.length);
  }
};

// One-way. Ids that are gone already are ignored. An emitted candidate outlives its branch.
struct Drop {
  static constexpr Verb kVerb = Verb::drop;
  std::vector<BranchId> branches{};
  static void each_field(auto& self, auto&& field) { field("branches", self.branches); }
};

enum class Placement : uint8_t { end_to_end, shifted };
constexpr Placement last_value(Placement) { return Placement::shifted; }

// Reads `count` tokens of `source`, from `first` on, at the end of `branch`.
struct Splice {
  static constexpr Verb kVerb = Verb::splice;
  using Result = LengthResult;
  BranchId branch{};
  BranchId source{};
  uint32_t first = 0;
  uint32_t count = kToEnd;
  Placement placement = Placement::end_to_end;
  int64_t shift = 0;  // positions, where placement is shifted
  bool live = false;  // refused for now
  static void each_field(auto& self, auto&& field) {
    field("branch", self.branch);
    field("source", self.source);
    field("first", self.first);
    field("count", self.count);
    field("placement", self.placement);
    field("shift", self.shift);
    field("live", self.live);
  }
};

}  // namespace thinkd::sdk
