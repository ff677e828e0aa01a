#pragma once
// The exit codes of the program. Pure functions.

#include "base/status.h"

namespace thinkd::daemon {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitRefused = 3;  // by a limit, or by a store that another process holds
inline constexpr int kExitInterrupted = 130;

// What a failed command exits with.
int exit_code(const Status& status);
// The same for what opening a store said: there a conflict is a store that another process holds.
int store_exit_code(const Status& status);

}  // namespace thinkd::daemon
