#include "engine/sampling/stop_matcher.h"

#include <algorithm>

namespace thinkd::engine {

std::optional<uint64_t> StopMatcher::feed(std::string_view bytes,
                                          std::span<const std::string> stops) {
  const size_t old = pending_.size();
  pending_ += bytes;
  size_t begin = std::string::npos;
  size_t longest = 0;
  for (const std::string& stop : stops) {
    if (stop.empty()) {
      continue;
    }
    longest = std::max(longest, stop.size());
    // A match must use a new byte: what ended earlier was seen by the call that fed its end.
    const size_t from = old + 1 > stop.size() ? old + 1 - stop.size() : 0;
    begin = std::min(begin, pending_.find(stop, from));
  }
  if (begin != std::string::npos) {
    const uint64_t before_end = pending_.size() - begin;
    pending_.clear();
    return before_end;
  }
  const size_t keep = longest > 0 ? longest - 1 : 0;
  if (pending_.size() > keep) {
    pending_.erase(0, pending_.size() - keep);
  }
  return std::nullopt;
}

}  // namespace thinkd::engine
