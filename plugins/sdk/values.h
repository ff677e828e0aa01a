#pragma once
// The small types that verb records are made of. Each struct lists its fields once, in the order in
// which they are encoded (each_field); codec.h writes and reads them from that list. Plain values:
// no owner, no thread rule.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thinkd::sdk {

// A branch of the run: a number that the host gave. 0 is no branch.
struct BranchId {
  uint64_t value = 0;
  bool operator==(const BranchId&) const = default;
};

struct Message {
  std::string role{};  // system, user, assistant
  std::string content{};
  static void each_field(auto& self, auto&& field) {
    field("role", self.role);
    field("content", self.content);
  }
};

// How tokens are drawn: penalty, temperature, top-k, top-p, min-p, in this order. 0 or 1 is off.
struct Sampling {
  float temperature = 0.0f;  // 0: the likeliest token
  uint32_t top_k = 0;
  float top_p = 1.0f;
  float min_p = 0.0f;
  float repetition_penalty = 1.0f;
  static void each_field(auto& self, auto&& field) {
    field("temperature", self.temperature);
    field("top_k", self.top_k);
    field("top_p", self.top_p);
    field("min_p", self.min_p);
    field("repetition_penalty", self.repetition_penalty);
  }
};

// What the user said about sampling; what is absent is the strategy's choice.
struct SamplingOverrides {
  std::optional<float> temperature{};
  std::optional<uint32_t> top_k{};
  std::optional<float> top_p{};
  std::optional<float> min_p{};
  std::optional<float> repetition_penalty{};
  std::optional<uint32_t> max_tokens{};  // new tokens a sample
  std::vector<std::string> stops{};
  static void each_field(auto& self, auto&& field) {
    field("temperature", self.temperature);
    field("top_k", self.top_k);
    field("top_p", self.top_p);
    field("min_p", self.min_p);
    field("repetition_penalty", self.repetition_penalty);
    field("max_tokens", self.max_tokens);
    field("stops", self.stops);
  }
};

// Why an extend of a branch ended.
enum class End : uint8_t {
  stop_text,   // a stop text was completed; the reported text is cut before it
  end_token,   // the model ended its text
  max_tokens,  // the call's limit
  context,     // the model's context is full
  dropped,     // the branch was dropped meanwhile; nothing is reported
  bad_logits,  // no logit was finite
};
constexpr End last_value(End) { return End::bad_logits; }

struct TopLogprob {
  uint32_t token = 0;
  double logprob = 0;
  static void each_field(auto& self, auto&& field) {
    field("token", self.token);
    field("logprob", self.logprob);
  }
};

struct TokenLogprob {
  uint32_t token = 0;
  double logprob = 0;             // natural log
  double entropy = 0;             // of the whole distribution, nats
  std::vector<TopLogprob> top{};  // the top_k likeliest
  static void each_field(auto& self, auto&& field) {
    field("token", self.token);
    field("logprob", self.logprob);
    field("entropy", self.entropy);
    field("top", self.top);
  }
};

enum class Outcome : uint8_t { none, correct, wrong, no_answer, parse_failed };
constexpr Outcome last_value(Outcome) { return Outcome::parse_failed; }

// What a verifier says of one branch or text.
struct Verdict {
  double score = 0;  // higher is better
  Outcome outcome = Outcome::none;
  std::string reason{};
  std::string answer{};  // as extracted, where it extracts one
  static void each_field(auto& self, auto&& field) {
    field("score", self.score);
    field("outcome", self.outcome);
    field("reason", self.reason);
    field("answer", self.answer);
  }
};

// By which rule the answer is chosen from the candidates emitted so far. Ties go to the earliest
// emit. Votes are over classes of equal answers; a candidate without an answer abstains.
enum class AnswerRule : uint8_t { first, last, best_score, vote, weighted_vote };
constexpr AnswerRule last_value(AnswerRule) { return AnswerRule::weighted_vote; }

// How weighted_vote makes a weight of a score.
enum class Weighting : uint8_t { raw, sigmoid };
constexpr Weighting last_value(Weighting) { return Weighting::sigmoid; }

enum class ParamKind : uint8_t { boolean, integer, number, text };
constexpr ParamKind last_value(ParamKind) { return ParamKind::text; }

// One parameter as the host read it from the user: its JSON type decides the kind, and the one
// field of that kind holds the value. "name:n=16" gives integer 16, n=0.5 number, n=true boolean,
// else text.
struct Param {
  std::string name{};
  ParamKind kind = ParamKind::text;
  bool boolean = false;
  int64_t integer = 0;
  double number = 0;
  std::string text{};
  static void each_field(auto& self, auto&& field) {
    field("name", self.name);
    field("kind", self.kind);
    field("boolean", self.boolean);
    field("integer", self.integer);
    field("number", self.number);
    field("text", self.text);
  }
};

}  // namespace thinkd::sdk
