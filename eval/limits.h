#pragma once
// What an evaluation reads at most. Stands here until base/limits.h is next opened.

#include <cstdint>

namespace thinkd::limits {

inline constexpr uint64_t kEvalDataBytes = 256 << 20;
inline constexpr uint64_t kEvalProblems = 1'000'000;  // records of a data file
inline constexpr uint64_t kEvalManifestBytes = 4 << 20;
inline constexpr uint32_t kCountdownNumbers = 16;  // of one problem

}  // namespace thinkd::limits
