#pragma once
// A branch handle: owns one branch of the run and drops it when it goes. Moved, never copied;
// host.fork() makes another. It also remembers what the last extend said. Thread: the strategy's.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plugins/sdk/session.h"
#include "plugins/sdk/values.h"

namespace thinkd::sdk {

class Branch {
 public:
  Branch() = default;  // no branch
  Branch(Session& session, BranchId id, uint32_t length) : session_(&session), id_(id) {
    last_.length = length;
  }
  Branch(Branch&& other) noexcept { swap(other); }
  Branch& operator=(Branch&& other) noexcept {
    Branch gone(std::move(other));
    swap(gone);
    return *this;
  }
  ~Branch() { drop(); }

  void drop() noexcept {
    if (session_ != nullptr) {
      std::exchange(session_, nullptr)->drop(id_);
      id_ = {};
    }
  }

  BranchId id() const { return id_; }
  explicit operator bool() const { return session_ != nullptr; }

  uint32_t length() const { return last_.length; }        // tokens, prompt included
  std::optional<End> end() const { return end_; }         // of the last extend; none before one
  const std::string& text() const { return last_.text; }  // of the last extend
  const std::vector<uint32_t>& tokens() const { return last_.tokens; }
  const std::vector<double>& logprobs() const { return last_.logprobs; }
  const std::vector<float>& hidden() const { return last_.hidden; }
  double sum_logprob() const { return last_.sum_logprob; }  // of the last extend
  uint32_t total_tokens() const { return last_.total_tokens; }
  double mean_logprob() const {  // over all that was generated; below any text's where nothing was
    return last_.total_tokens == 0 ? -std::numeric_limits<float>::max()
                                   : last_.total_logprob / last_.total_tokens;
  }

  // No extend could add to it: the model ended its text, or the context is full.
  bool finished() const {
    return end_ == End::end_token || end_ == End::context || end_ == End::bad_logits;
  }

 private:
  friend class Host;
  friend class Finishing;

  void swap(Branch& other) noexcept {
    std::swap(session_, other.session_);
    std::swap(id_, other.id_);
    std::swap(end_, other.end_);
    std::swap(last_, other.last_);
  }
  void settle(Extended extended) {
    end_ = extended.end;
    last_ = std::move(extended);
  }

  Session* session_ = nullptr;
  BranchId id_;
  std::optional<End> end_;
  Extended last_;
};

// Those of `branches` that an extend can still add to.
inline std::vector<Branch*> open_ones(std::span<Branch> branches) {
  std::vector<Branch*> open;
  for (Branch& branch : branches) {
    if (branch && !branch.finished()) {
      open.push_back(&branch);
    }
  }
  return open;
}

inline bool all_finished(std::span<Branch> branches) { return open_ones(branches).empty(); }

}  // namespace thinkd::sdk
