#pragma once
// Times of day with a.m. or p.m., and dates with a month's name, in one spelling.

#include <string>
#include <string_view>

namespace thinkd::verifiers {

// "15:05" for "3:05 p.m.", "2021-3-4" for "March 4, 2021"; empty where the text is neither.
std::string calendar_text(std::string_view text);

}  // namespace thinkd::verifiers
