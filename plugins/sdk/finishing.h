#pragma once
// The branches of one extend, handed out in the order in which they end:
//   for (Branch& branch : host.extend_as_finished(branches, options)) { ... }
// Leaving the loop early drops the branches that have not ended. A branch that the loop's body
// drops is not handed out. Thread: the strategy's.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "plugins/sdk/branch.h"
#include "plugins/sdk/problem.h"
#include "plugins/sdk/session.h"

namespace thinkd::sdk {

namespace detail {

inline Extend extend_request(BranchId branch, const ExtendOptions& options) {
  return {{branch}, options.max_tokens, options.stop, options.sampling, options.hidden_at_stop};
}

inline Extended only_branch(ExtendResult result) {
  if (result.branches.size() != 1) {
    throw Failed(THINKD_FAILED, "extend: the host answered for " +
                                    std::to_string(result.branches.size()) + " branches, not 1");
  }
  return std::move(result.branches.front());
}

}  // namespace detail

class Finishing {
 public:
  Finishing(Session& session, std::span<Branch> branches, const ExtendOptions& options)
      : session_(session) {
    try {
      for (Branch& branch : branches) {
        const uint64_t ticket = session.submit(detail::extend_request(branch.id(), options));
        tickets_.push_back(ticket);
        running_.emplace(ticket, &branch);
      }
    } catch (...) {
      drop_rest();
      throw;
    }
  }
  Finishing(const Finishing&) = delete;
  Finishing& operator=(const Finishing&) = delete;
  ~Finishing() { drop_rest(); }

  // The next that has ended; nullptr when there is none left.
  Branch* next() {
    while (!tickets_.empty()) {
      auto result = session_.wait_any<Extend>(tickets_);
      tickets_.erase(std::remove(tickets_.begin(), tickets_.end(), result.ticket), tickets_.end());
      Branch* branch = std::exchange(running_[result.ticket], nullptr);
      Extended extended = detail::only_branch(std::move(result.value));
      if (branch != nullptr && *branch && extended.end != End::dropped) {
        branch->settle(std::move(extended));
        return branch;
      }
    }
    return nullptr;
  }

  class Iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Branch;
    explicit Iterator(Finishing* range) : range_(range), branch_(range->next()) {}
    Branch& operator*() const { return *branch_; }
    Iterator& operator++() {
      branch_ = range_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return branch_ == nullptr; }

   private:
    Finishing* range_;
    Branch* branch_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  void drop_rest() noexcept {
    for (auto& [ticket, branch] : running_) {
      if (branch != nullptr) {
        branch->drop();
      }
    }
  }

  Session& session_;
  std::vector<uint64_t> tickets_;        // not yet ended, in the order of the branches
  std::map<uint64_t, Branch*> running_;  // dropped in the order of the branches
};

}  // namespace thinkd::sdk
