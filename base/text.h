#pragma once
// Text helpers: strict numbers (no sign, space or suffix that was not asked for), UTF-8, splitting.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd {

std::optional<int64_t> parse_int(std::string_view text);    // the whole text, base 10
std::optional<uint64_t> parse_uint(std::string_view text);  // the whole text, base 10
std::optional<double> parse_double(std::string_view text);  // the whole text, finite only
// "02", "-00.5": a number that JSON would not take, typed by mistake or cut out of something else.
bool has_leading_zero(std::string_view text);
std::string format_double(double value);  // shortest text that reads back equal

bool valid_utf8(std::string_view text);
// Bytes that are not UTF-8 become U+FFFD each (for JSON, terminals, logs).
std::string repair_utf8(std::string_view text);
// Control bytes shown as \xNN, so that a log line stays one line.
std::string escape_controls(std::string_view text);

std::string_view trim(std::string_view text);  // ASCII white space at both ends
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace thinkd
