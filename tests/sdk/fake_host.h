#pragma once
// A host without an engine: branches are paths, and a script says what an extend of each path
// gives. It keeps the contract of thinkd_plugin.h: order of results, one-way verbs, dropped
// branches, stop. Paths are compared as texts: no branch may have more than ten forks.

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plugins/sdk/codec.h"

namespace thinkd::sdk {

struct Scripted {
  std::string text = "text";
  uint32_t tokens = 1;  // also how many ticks it takes
  double score = 0;
  End end = End::end_token;
};

class FakeHost {
 public:
  struct Emitted {
    Emit emit;
    std::string path;
    uint64_t tick;
  };

  std::function<Scripted(const std::string&)> script = [](const auto&) { return Scripted{}; };
  size_t stop_at =
      SIZE_MAX;  // the call (submit but of drop, or wait) that is STOPPED, with all later
  size_t fail_at = SIZE_MAX;  // the submit whose verb fails
  size_t calls = 0;
  uint64_t tick = 0;
  std::vector<Emitted> emitted;
  std::vector<Extend> extends;
  std::vector<std::string> verifiers;
  std::string failure;  // what the strategy said with fail()

  // Branches that the strategy was told of and has not dropped.
  long live() const {
    return std::count_if(branches_.begin(), branches_.end(),
                         [this](const auto& each) { return !work_.contains(each.second.ticket); });
  }

  std::vector<std::string> candidates() const {
    std::vector<std::string> paths;
    for (const Emitted& each : emitted) {
      if (each.emit.event == Event::candidate) {
        paths.push_back(each.path);
      }
    }
    return paths;
  }

  thinkd_host table() {
    return {sizeof(thinkd_host), THINKD_ABI_MINOR, this, &submit_, &wait_, &error_, &fail_};
  }

  thinkd_status run(const thinkd_strategy& strategy, const RunRequest& request) {
    const thinkd_host host = table();
    const Bytes bytes = encode(request);
    return strategy.run(strategy.self, &host, bytes.data(), bytes.size());
  }

 private:
  struct Work {
    uint64_t tick;
    std::string path;
    BranchId holds;
    Bytes result;
  };
  struct Node {
    std::string path;
    uint64_t ticket;  // that made it
    uint32_t forks = 0;
  };

  BranchId add(const std::string& path) {
    branches_[++last_id_] = {path, last_ticket_};
    return {last_id_};
  }
  template <class R>
  void answer(const typename R::Result& result, uint64_t ticks = 0, std::string path = "",
              BranchId holds = {}) {
    work_[last_ticket_] = {tick + ticks, path, holds, encode_result<R>(result, last_ticket_)};
  }

  thinkd_status submit(std::span<const uint8_t> record, uint64_t* ticket) {
    const Verb verb = static_cast<Verb>(peek(record).value.verb);
    if (verb == Verb::drop) {
      for (BranchId id : decode<Drop>(record).value.branches) {
        branches_.erase(id.value);
      }
      return THINKD_OK;
    }
    if (calls++ >= stop_at) {
      return THINKD_STOPPED;
    }
    if (verb == Verb::emit) {
      const Emit emit = decode<Emit>(record).value;
      const bool of_branch = emit.branch.value != 0;
      emitted.push_back({emit, of_branch ? branches_.at(emit.branch.value).path : "", tick});
      return THINKD_OK;
    }
    *ticket = ++last_ticket_;
    if (calls - 1 == fail_at) {
      work_[*ticket] = {tick, "", {}, encode_failure(verb, *ticket, THINKD_LIMIT, "9 of 8 pages")};
    } else if (verb == Verb::open) {
      answer<Open>({add(std::to_string(roots_++)), 10});
    } else if (verb == Verb::fork) {
      const Fork fork = decode<Fork>(record).value;
      Node& parent = branches_.at(fork.branch.value);
      ForkResult result;
      while (result.branches.size() < fork.count) {
        result.branches.push_back(add(parent.path + "." + std::to_string(parent.forks++)));
      }
      answer<Fork>(result);
    } else if (verb == Verb::extend) {
      extends.push_back(decode<Extend>(record).value);
      const BranchId id = extends.back().branches.at(0);
      const std::string path = branches_.at(id.value).path;
      const Scripted says = script(path);
      answer<Extend>({{{.branch = id, .end = says.end, .text = says.text}}}, says.tokens, path, id);
    } else if (verb == Verb::verify) {
      const Verify verify = decode<Verify>(record).value;
      verifiers.push_back(verify.verifier);
      VerifyResult result;
      for (BranchId id : verify.branches) {
        result.verdicts.push_back({.score = script(branches_.at(id.value).path).score});
      }
      answer<Verify>(result);
    } else if (verb == Verb::random) {
      answer<Random>({std::vector<double>(decode<Random>(record).value.count, 0.5)});
    } else {
      return THINKD_UNAVAILABLE;
    }
    return THINKD_OK;
  }

  thinkd_status wait(std::vector<uint64_t> order, bool any, thinkd_sink sink, void* context) {
    if (calls++ >= stop_at) {
      return THINKD_STOPPED;
    }
    const auto key = [this](uint64_t t) {
      return std::tuple(work_.at(t).tick, work_.at(t).path, t);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return key(a) < key(b); });
    order.resize(any ? 1 : order.size());
    for (uint64_t ticket : order) {
      Work work = std::move(work_.extract(ticket).mapped());
      tick = std::max(tick, work.tick);
      if (work.holds.value != 0 && !branches_.contains(work.holds.value)) {
        work.result =
            encode_result<Extend>({{{.branch = work.holds, .end = End::dropped}}}, ticket);
      }
      sink(context, work.result.data(), work.result.size());
    }
    return THINKD_OK;
  }

  static FakeHost& self(void* context) { return *static_cast<FakeHost*>(context); }
  static thinkd_status submit_(void* c, const uint8_t* record, size_t size, uint64_t* ticket) {
    return self(c).submit({record, size}, ticket);
  }
  static thinkd_status wait_(void* c, const uint64_t* tickets, size_t count, uint32_t until,
                             thinkd_sink sink, void* context) {
    return self(c).wait({tickets, tickets + count}, until == THINKD_ANY, sink, context);
  }
  static const char* error_(void*) { return "the fake host has no such verb"; }
  static void fail_(void* c, const char* text, size_t size) { self(c).failure.assign(text, size); }

  std::map<uint64_t, Node> branches_;
  std::map<uint64_t, Work> work_;  // by ticket, not yet told
  uint64_t last_id_ = 0;
  uint64_t last_ticket_ = 0;
  uint32_t roots_ = 0;
};

}  // namespace thinkd::sdk
