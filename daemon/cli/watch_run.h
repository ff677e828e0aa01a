#pragma once
// What `ask` and `resume` show while a run thinks: counts taken from its events, in this process or
// from a daemon. Any thread may call any method.

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "base/json.h"
#include "search/event.h"

namespace thinkd::daemon {

class RunWatch {
 public:
  void take(const search::Event& event);
  void take(const Json& event);  // the params of a progress notification

  // "12 s, 345 tokens (28/s), 3 candidates, best so far: 42". `rows`: tokens that went through the
  // model, where the caller knows; branches that are not done yet are counted in them.
  std::string line(double seconds, uint64_t rows) const;

 private:
  void add(const std::string& kind, uint64_t tokens, const std::string& answer);

  mutable std::mutex lock_;
  uint64_t tokens_ = 0;
  uint64_t candidates_ = 0;
  std::string best_;
};

}  // namespace thinkd::daemon
