#pragma once
// The bodies of Host: each builds one record and reads one. Included by host.h alone.

#include <utility>

#include "plugins/sdk/host.h"

namespace thinkd::sdk {

namespace detail {

template <class T>
T only(std::vector<T> items, const char* verb) {
  if (items.size() != 1) {
    throw Failed(THINKD_FAILED, std::string(verb) + ": the host gave " +
                                    std::to_string(items.size()) + " items, not 1");
  }
  return std::move(items.front());
}

template <class T>
std::vector<T> exactly(std::vector<T> items, size_t count, const char* verb) {
  if (items.size() != count) {
    throw Failed(THINKD_FAILED, std::string(verb) + ": the host gave " +
                                    std::to_string(items.size()) + " items, not " +
                                    std::to_string(count));
  }
  return items;
}

}  // namespace detail

inline std::vector<BranchId> Host::ids(std::span<const Branch> branches) {
  std::vector<BranchId> ids;
  ids.reserve(branches.size());
  for (const Branch& branch : branches) {
    ids.push_back(branch.id());
  }
  return ids;
}

inline void Host::answer_by(AnswerRule rule, Weighting weighting) {
  session_.submit(Emit{.event = Event::answer_by, .rule = rule, .weighting = weighting});
}

inline void Host::emit(const Candidate& candidate) {
  session_.submit(Emit{.event = Event::candidate,
                       .branch = candidate.branch.id(),
                       .score = candidate.score,
                       .text = candidate.text});
}

inline void Host::scored(const Branch& branch, double score) {
  session_.submit(Emit{.event = Event::scored, .branch = branch.id(), .score = score});
}

inline void Host::pruned(Branch& branch) {
  session_.submit(Emit{.event = Event::pruned, .branch = branch.id()});
  branch.drop();
}

inline void Host::note(std::string_view text) {
  session_.submit(Emit{.event = Event::note, .text = std::string(text)});
}

inline Branch Host::open(std::span<const Message> messages) {
  const BranchResult opened = session_.call(
      Open{.source = Source::messages, .messages = {messages.begin(), messages.end()}});
  return Branch(session_, opened.branch, opened.length);
}

inline Branch Host::open_text(std::string_view text) {
  const BranchResult opened = session_.call(
      Open{.source = Source::text, .text = std::string(text), .chat_template = false});
  return Branch(session_, opened.branch, opened.length);
}

inline uint32_t Host::append(Branch& branch, std::string_view text) {
  branch.last_.length =
      session_.call(Append{branch.id(), Source::text, std::string(text), {}}).length;
  branch.end_.reset();
  return branch.length();
}

inline uint32_t Host::append(Branch& branch, std::span<const uint32_t> tokens) {
  branch.last_.length =
      session_.call(Append{branch.id(), Source::tokens, {}, {tokens.begin(), tokens.end()}}).length;
  branch.end_.reset();
  return branch.length();
}

inline Branch Host::child(const Branch& parent, BranchId id) {
  Branch branch(session_, id, parent.length());
  branch.end_ = parent.end_;
  branch.last_ = parent.last_;
  return branch;
}

inline std::vector<Branch> Host::fork(const Branch& branch, uint32_t count) {
  std::vector<Branch> children;
  for (BranchId id : session_.call(Fork{branch.id(), count}).branches) {
    children.push_back(child(branch, id));
  }
  return detail::exactly(std::move(children), count, "fork");
}

inline std::vector<Branch> Host::fork(std::span<const Branch> branches,
                                      std::span<const size_t> parents) {
  std::vector<Fork> requests;
  for (size_t parent : parents) {
    if (parent >= branches.size()) {
      throw Failed(THINKD_INVALID, "fork: parent " + std::to_string(parent) + " of " +
                                       std::to_string(branches.size()) + " branches");
    }
    requests.push_back({branches[parent].id(), 1});
  }
  const std::vector<ForkResult> results = session_.call_all<Fork>(requests);
  std::vector<Branch> children;
  for (size_t i = 0; i < parents.size(); ++i) {
    children.push_back(child(branches[parents[i]], detail::only(results[i].branches, "fork")));
  }
  return children;
}

inline void Host::truncate(Branch& branch, uint32_t length) {
  branch.last_ = Extended{.length = session_.call(Truncate{branch.id(), length}).length};
  branch.end_.reset();
}

inline void Host::splice(Branch& branch, const Branch& source, const SpliceOptions& options) {
  branch.last_.length =
      session_
          .call(Splice{.branch = branch.id(),
                       .source = source.id(),
                       .first = options.first,
                       .count = options.count,
                       .placement = options.shift ? Placement::shifted : Placement::end_to_end,
                       .shift = options.shift.value_or(0)})
          .length;
  branch.end_.reset();
}

inline void Host::extend(Branch& branch, const ExtendOptions& options) {
  extend(std::span(&branch, 1), options);
}

inline void Host::extend(std::span<Branch> branches, const ExtendOptions& options) {
  std::vector<Branch*> pointers;
  for (Branch& branch : branches) {
    pointers.push_back(&branch);
  }
  extend(pointers, options);
}

inline void Host::extend(std::span<Branch* const> branches, const ExtendOptions& options) {
  std::vector<Extend> requests;
  for (const Branch* branch : branches) {
    requests.push_back(detail::extend_request(branch->id(), options));
  }
  std::vector<ExtendResult> results = session_.call_all<Extend>(requests);
  for (size_t i = 0; i < branches.size(); ++i) {
    branches[i]->settle(detail::only_branch(std::move(results[i])));
  }
}

inline Finishing Host::extend_as_finished(std::span<Branch> branches,
                                          const ExtendOptions& options) {
  return Finishing(session_, branches, options);
}

inline Verdict Host::verify(const Branch& branch, std::string_view verifier) {
  return detail::only(verify(std::span(&branch, 1), verifier), "verify");
}

inline std::vector<Verdict> Host::verify(std::span<const Branch> branches,
                                         std::string_view verifier) {
  return detail::exactly(session_.call(Verify{ids(branches), {}, std::string(verifier)}).verdicts,
                         branches.size(), "verify");
}

inline std::vector<Verdict> Host::verify_texts(std::vector<std::string> texts,
                                               std::string_view verifier) {
  const size_t count = texts.size();
  return detail::exactly(
      session_.call(Verify{{}, std::move(texts), std::string(verifier)}).verdicts, count, "verify");
}

inline double Host::score(const Branch& branch, std::string_view verifier) {
  return verify(branch, verifier).score;
}

inline std::vector<double> Host::score(std::span<const Branch> branches,
                                       std::string_view verifier) {
  std::vector<double> scores;
  for (const Verdict& verdict : verify(branches, verifier)) {
    scores.push_back(verdict.score);
  }
  return scores;
}

inline std::vector<TokenLogprob> Host::logprobs(const Branch& branch, std::string_view text,
                                                uint32_t top_k) {
  return detail::only(session_
                          .call(Logprobs{.branches = {branch.id()},
                                         .source = Source::text,
                                         .text = std::string(text),
                                         .top_k = top_k})
                          .branches,
                      "logprobs")
      .tokens;
}

inline std::vector<TokenLogprob> Host::logprobs(const Branch& branch,
                                                std::span<const uint32_t> tokens, uint32_t top_k) {
  return detail::only(session_
                          .call(Logprobs{.branches = {branch.id()},
                                         .source = Source::tokens,
                                         .tokens = {tokens.begin(), tokens.end()},
                                         .top_k = top_k})
                          .branches,
                      "logprobs")
      .tokens;
}

inline std::vector<float> Host::hidden(const Branch& branch, uint32_t position) {
  return detail::only(session_.call(Hidden{{branch.id()}, position}).branches, "hidden").state;
}

inline std::vector<uint32_t> Host::tokens(const Branch& branch, uint32_t first, uint32_t count) {
  return session_.call(Tokens{branch.id(), first, count}).tokens;
}

inline std::string Host::text(const Branch& branch, uint32_t first, uint32_t count) {
  return session_.call(Text{branch.id(), first, count}).text;
}

inline double Host::random() { return detail::only(random(1), "random"); }

inline std::vector<double> Host::random(uint32_t count) {
  return detail::exactly(session_.call(Random{count}).uniforms, count, "random");
}

inline NowResult Host::now() { return session_.call(Now{}); }

}  // namespace thinkd::sdk
