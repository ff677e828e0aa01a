#pragma once
// The log: one line an event on standard error, with time and level. Text from outside is escaped
// so that it cannot forge a line. Nothing in stdout is ever a log line.

#include <string>
#include <string_view>

namespace thinkd {

enum class LogLevel { debug, info, warning, error };

void set_log_level(LogLevel level);  // default: warning
void log(LogLevel level, std::string_view message);

inline void log_debug(std::string_view message) { log(LogLevel::debug, message); }
inline void log_info(std::string_view message) { log(LogLevel::info, message); }
inline void log_warning(std::string_view message) { log(LogLevel::warning, message); }
inline void log_error(std::string_view message) { log(LogLevel::error, message); }

}  // namespace thinkd
