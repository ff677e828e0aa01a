#pragma once
// One run seen from the strategy's side: typed verbs over the host table. Used by Branch and Host.
//
// Errors: a verb that fails throws Failed, which a strategy may catch. When the host says that the
// run is over, Stopped unwinds the strategy; it is not a std::exception, so that no handler of one
// holds it up, and it is caught at the plugin's edge (strategy.h). Neither crosses the ABI. Thread:
// the one that run() is on.

#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/sdk/codec.h"
#include "plugins/sdk/thinkd_plugin.h"

namespace thinkd::sdk {

// Something went wrong that is not the end of the run; what() names it and the limit.
class Failed : public std::runtime_error {
 public:
  Failed(thinkd_status status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  thinkd_status status() const { return status_; }

 private:
  thinkd_status status_;
};

namespace detail {
struct Stopped {};
}  // namespace detail

class Session {
 public:
  explicit Session(const thinkd_host& host) : host_(host) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool stopped() const { return stopped_; }

  // Hands in a request; its result is taken by wait_any() or wait_all().
  template <class R>
  uint64_t submit(const R& request) {
    const Bytes record = encode(request);
    uint64_t ticket = 0;
    check(host_.submit(host_.context, record.data(), record.size(), &ticket));
    return ticket;
  }

  // The one result that comes first, with its ticket.
  template <class R>
  Decoded<typename R::Result> wait_any(std::span<const uint64_t> tickets) {
    const std::vector<Bytes> records = wait(tickets, THINKD_ANY);
    if (records.size() != 1) {
      throw Failed(THINKD_FAILED, "the host gave " + std::to_string(records.size()) +
                                      " results where one was due");
    }
    return checked(decode_result<R>(records.front()));
  }

  // All results, in the order of the tickets.
  template <class R>
  std::vector<typename R::Result> wait_all(std::span<const uint64_t> tickets) {
    std::vector<typename R::Result> results(tickets.size());
    if (tickets.empty()) {
      return results;
    }
    std::unordered_map<uint64_t, size_t> place;
    for (size_t i = 0; i < tickets.size(); ++i) {
      place[tickets[i]] = i;
    }
    for (const Bytes& record : wait(tickets, THINKD_ALL)) {
      auto result = checked(decode_result<R>(record));
      const auto found = place.find(result.ticket);
      if (found == place.end()) {
        throw Failed(THINKD_FAILED, "the host gave a result that nobody waited for");
      }
      results[found->second] = std::move(result.value);
      place.erase(found);
    }
    if (!place.empty()) {
      throw Failed(THINKD_FAILED,
                   "the host kept " + std::to_string(place.size()) + " results back");
    }
    return results;
  }

  template <class R>
  typename R::Result call(const R& request) {
    const uint64_t ticket = submit(request);
    return std::move(wait_any<R>(std::span(&ticket, 1)).value);
  }

  // All at one tick, results in the order of the requests.
  template <class R>
  std::vector<typename R::Result> call_all(std::span<const R> requests) {
    std::vector<uint64_t> tickets;
    tickets.reserve(requests.size());
    for (const R& request : requests) {
      tickets.push_back(submit(request));
    }
    return wait_all<R>(tickets);
  }

  // Never fails: what cannot be dropped now, the host drops when the run ends.
  void drop(BranchId branch) noexcept {
    try {
      const Bytes record = encode(Drop{{branch}});
      uint64_t ticket = 0;
      static_cast<void>(host_.submit(host_.context, record.data(), record.size(), &ticket));
    } catch (...) {
    }
  }

 private:
  struct Sink {
    std::vector<Bytes> records;
    bool out_of_memory = false;
  };

  static void take(void* context, const uint8_t* record, size_t size) noexcept {
    Sink& sink = *static_cast<Sink*>(context);
    try {
      sink.records.emplace_back(record, record + size);
    } catch (...) {
      sink.out_of_memory = true;
    }
  }

  std::vector<Bytes> wait(std::span<const uint64_t> tickets, uint32_t until) {
    Sink sink;
    check(host_.wait(host_.context, tickets.data(), tickets.size(), until, &Session::take, &sink));
    if (sink.out_of_memory) {
      throw std::bad_alloc();
    }
    return std::move(sink.records);
  }

  void check(thinkd_status status) {
    if (status == THINKD_STOPPED) {
      stopped_ = true;
      throw detail::Stopped();
    }
    if (status != THINKD_OK) {
      const char* text = host_.error(host_.context);
      throw Failed(status, text != nullptr ? text : "the host gave no reason");
    }
  }

  template <class T>
  static Decoded<T> checked(Decoded<T> result) {
    if (!result.ok()) {
      throw Failed(result.status, result.fault);
    }
    return result;
  }

  const thinkd_host& host_;
  bool stopped_ = false;
};

}  // namespace thinkd::sdk
