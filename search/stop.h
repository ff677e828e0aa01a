#pragma once
// Why a run ends before its strategy is done, and how a stop from outside is kept in the journal.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/status.h"

namespace thinkd::search {

enum class StopReason : uint8_t {
  none,
  // From the run itself: the same every time.
  tokens,
  samples,
  verifier_calls,
  flops,
  // From outside: journaled.
  seconds,
  cancelled,
  // The process goes down; the run goes on later and nothing of this is journaled.
  interrupted,
};

constexpr std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "done";
    case StopReason::tokens:
      return "tokens";
    case StopReason::samples:
      return "samples";
    case StopReason::verifier_calls:
      return "verifier_calls";
    case StopReason::flops:
      return "flops";
    case StopReason::seconds:
      return "seconds";
    case StopReason::cancelled:
      return "cancelled";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "done";
}

// Where a stop from outside took effect: in the middle of work, when the query's clock stood at
// `tick`, or between two pieces of work, at the `call`-th call (submit or wait) of the strategy.
struct StopPoint {
  StopReason reason = StopReason::none;
  bool at_tick = false;
  uint64_t tick = 0;
  uint64_t call = 0;
};

inline std::string encode(const StopPoint& point) {
  ByteWriter writer;
  writer.write(static_cast<uint8_t>(point.reason)).write(static_cast<uint8_t>(point.at_tick));
  writer.write(point.tick).write(point.call);
  return writer.take();
}

inline Result<StopPoint> decode_stop(std::string_view bytes) {
  ByteReader reader(bytes);
  StopPoint point;
  const auto reason = reader.read<uint8_t>();
  point.at_tick = reader.read<uint8_t>() != 0;
  point.tick = reader.read<uint64_t>();
  point.call = reader.read<uint64_t>();
  if (!reader.done() || (reason != static_cast<uint8_t>(StopReason::seconds) &&
                         reason != static_cast<uint8_t>(StopReason::cancelled))) {
    return corrupt("journal: a stop entry of " + std::to_string(bytes.size()) + " bytes, reason " +
                   std::to_string(reason));
  }
  point.reason = static_cast<StopReason>(reason);
  return point;
}

}  // namespace thinkd::search
