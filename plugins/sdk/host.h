#pragma once
// The verbs, as a strategy calls them. Every call blocks until its result is there; where a budget,
// the deadline or a cancel ends the run, it does not return and the strategy unwinds. A verb that
// fails throws Failed (session.h). Ranges of branches must not be moved while a verb works on them.
// Thread: the strategy's. Owner: the edge that called the strategy.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/sdk/branch.h"
#include "plugins/sdk/finishing.h"
#include "plugins/sdk/problem.h"
#include "plugins/sdk/session.h"

namespace thinkd::sdk {

// A finished sample. Without text it is what the branch has generated.
struct Candidate {
  const Branch& branch;
  std::optional<double> score = std::nullopt;
  std::string text = {};
};

// A stretch of one branch to be read at the end of another.
struct SpliceOptions {
  uint32_t first = 0;
  uint32_t count = kToEnd;
  std::optional<int64_t> shift{};  // positions; none: end to end
};

class Host {
 public:
  explicit Host(Session& session) : session_(session) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // By which rule the answer is chosen from the candidates emitted, now and at the end.
  void answer_by(AnswerRule rule, Weighting weighting = Weighting::raw);
  void emit(const Candidate& candidate);
  void scored(const Branch& branch, double score);
  void pruned(Branch& branch);  // says so and drops it
  void note(std::string_view text);

  Branch open(std::span<const Message> messages);  // through the chat template
  Branch open_text(std::string_view text);         // as it is
  uint32_t append(Branch& branch, std::string_view text);
  uint32_t append(Branch& branch, std::span<const uint32_t> tokens);

  // Children, in order; the parent stays the caller's. A child knows what its parent's last extend
  // said.
  std::vector<Branch> fork(const Branch& branch, uint32_t count);
  std::vector<Branch> fork(std::span<const Branch> branches, std::span<const size_t> parents);
  void truncate(Branch& branch, uint32_t length);
  void splice(Branch& branch, const Branch& source, const SpliceOptions& options);

  // All from one tick on; returns when all have ended.
  void extend(Branch& branch, const ExtendOptions& options);
  void extend(std::span<Branch> branches, const ExtendOptions& options);
  void extend(std::span<Branch* const> branches, const ExtendOptions& options);
  // for (Branch& branch : host.extend_as_finished(...)): in the order in which they end.
  Finishing extend_as_finished(std::span<Branch> branches, const ExtendOptions& options);

  // `verifier`: a name, with parameters as "name:param=value"; empty: the default scorer.
  Verdict verify(const Branch& branch, std::string_view verifier);
  std::vector<Verdict> verify(std::span<const Branch> branches, std::string_view verifier);
  std::vector<Verdict> verify_texts(std::vector<std::string> texts, std::string_view verifier);
  double score(const Branch& branch, std::string_view verifier);
  std::vector<double> score(std::span<const Branch> branches, std::string_view verifier);

  // Of a continuation that is not added.
  std::vector<TokenLogprob> logprobs(const Branch& branch, std::string_view text, uint32_t top_k);
  std::vector<TokenLogprob> logprobs(const Branch& branch, std::span<const uint32_t> tokens,
                                     uint32_t top_k);
  std::vector<float> hidden(const Branch& branch, uint32_t position);  // kLast: the last token
  std::vector<uint32_t> tokens(const Branch& branch, uint32_t first, uint32_t count);
  std::string text(const Branch& branch, uint32_t first, uint32_t count);

  double random();  // in [0, 1), from the run's key
  std::vector<double> random(uint32_t count);
  NowResult now();

 private:
  Branch child(const Branch& parent, BranchId id);
  static std::vector<BranchId> ids(std::span<const Branch> branches);
  Session& session_;
};

}  // namespace thinkd::sdk

#include "plugins/sdk/host_impl.h"
