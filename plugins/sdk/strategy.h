#pragma once
// What a strategy's author includes. A strategy is a function (Host&, const Problem&, const
// Params&) that blocks in verbs (host.h); strategy<Params>(...) says what it is called and where it
// comes from, and the edge below turns it into an entry of the C ABI.
//
//   void sample(Host& host, const Problem& problem, const SampleParams& params) { ... }
//   StrategyInfo info = strategy<SampleParams>("sample", "one plain sample", "Doe 2020", sample);
//
// A StrategyInfo is immutable; entry() points into it, so it must stay where it is and outlive the
// entry. Several runs of one strategy may be under way at once, each on its own thread.

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/sdk/codec.h"
#include "plugins/sdk/host.h"
#include "plugins/sdk/params.h"
#include "plugins/sdk/problem.h"
#include "plugins/sdk/session.h"
#include "plugins/sdk/steps.h"
#include "plugins/sdk/thinkd_plugin.h"

namespace thinkd::sdk {

struct StrategyInfo {
  std::string name;
  std::string description;  // one line
  std::string source;       // of the algorithm
  std::string params_schema;
  std::function<void(const std::vector<Param>&)> check;  // throws Failed
  std::function<void(Host&, const Problem&, const std::vector<Param>&)> run;
};

template <class P>
StrategyInfo strategy(std::string name, std::string description, std::string source,
                      void (*function)(Host&, const Problem&, const P&)) {
  auto check = [name](const std::vector<Param>& params) { read_params<P>(params, name); };
  auto run = [name, function](Host& host, const Problem& problem,
                              const std::vector<Param>& params) {
    function(host, problem, read_params<P>(params, name));
  };
  return {
      std::move(name), std::move(description), std::move(source), params_schema<P>(), check, run};
}

namespace detail {

// Calls `body`; whatever it throws becomes a status, and `say` hears the text of a failure.
template <class Body, class Say>
thinkd_status at_the_edge(const StrategyInfo& info, Body body, Say say) noexcept {
  try {
    try {
      return body();
    } catch (const Stopped&) {
      return THINKD_STOPPED;
    } catch (const Failed& failed) {
      say(std::string_view(failed.what()));
      return failed.status();
    } catch (const std::exception& error) {
      say(std::string_view(info.name + ": " + error.what()));
    } catch (...) {
      say(std::string_view(info.name + ": an exception of unknown type"));
    }
  } catch (...) {  // no memory left for the text
    say(std::string_view("out of memory"));
  }
  return THINKD_FAILED;
}

inline RunRequest read_request(const uint8_t* request, size_t size) {
  Decoded<RunRequest> decoded = decode<RunRequest>({request, size});
  if (!decoded.ok()) {
    throw Failed(decoded.status, decoded.fault);
  }
  return std::move(decoded.value);
}

inline thinkd_status run_strategy(const void* self, const thinkd_host* table, const uint8_t* bytes,
                                  size_t size) {
  const StrategyInfo& info = *static_cast<const StrategyInfo*>(self);
  Session session(*table);
  const auto body = [&]() -> thinkd_status {
    RunRequest request = read_request(bytes, size);
    const std::vector<Param> params = std::move(request.params);
    const Problem problem(std::move(request));
    Host host(session);
    info.run(host, problem, params);
    return session.stopped() ? THINKD_STOPPED : THINKD_OK;
  };
  const auto say = [&](std::string_view text) {
    table->fail(table->context, text.data(), text.size());
  };
  return at_the_edge(info, body, say);
}

inline thinkd_status check_strategy(const void* self, const uint8_t* bytes, size_t size,
                                    thinkd_say say, void* say_context) {
  const StrategyInfo& info = *static_cast<const StrategyInfo*>(self);
  const auto body = [&]() -> thinkd_status {
    info.check(read_request(bytes, size).params);
    return THINKD_OK;
  };
  return at_the_edge(info, body,
                     [&](std::string_view text) { say(say_context, text.data(), text.size()); });
}

}  // namespace detail

// The strategy as the C ABI knows it.
inline thinkd_strategy entry(const StrategyInfo& info) {
  return {sizeof(thinkd_strategy),
          THINKD_STRATEGY,
          info.name.c_str(),
          info.description.c_str(),
          info.source.c_str(),
          info.params_schema.c_str(),
          &info,
          &detail::run_strategy,
          &detail::check_strategy};
}

// The table that thinkd_plugin_entry() gives; keep one for the life of the library.
class Plugin {
 public:
  Plugin(std::string name, std::string version, std::vector<StrategyInfo> strategies)
      : name_(std::move(name)), version_(std::move(version)), infos_(std::move(strategies)) {
    for (const StrategyInfo& info : infos_) {
      entries_.push_back(entry(info));
    }
    for (const thinkd_strategy& each : entries_) {
      pointers_.push_back(&each);
    }
    table_ = {sizeof(thinkd_plugin), THINKD_ABI_MINOR, name_.c_str(),
              version_.c_str(),      pointers_.size(), pointers_.data()};
  }
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // nullptr where a host of this version cannot use it.
  const thinkd_plugin* table_for(uint32_t abi_major, uint32_t abi_minor) const {
    return abi_major == THINKD_ABI_MAJOR && abi_minor >= table_.abi_minor ? &table_ : nullptr;
  }

 private:
  std::string name_;
  std::string version_;
  std::vector<StrategyInfo> infos_;
  std::vector<thinkd_strategy> entries_;
  std::vector<const thinkd_strategy*> pointers_;
  thinkd_plugin table_{};
};

}  // namespace thinkd::sdk
