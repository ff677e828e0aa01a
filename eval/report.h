#pragma once
// report.html: one page without scripts or outside parts: accuracy against tokens with intervals as
// inline SVG, the table, what was run. Everything that comes from data is escaped. Pure function.

#include <span>
#include <string>

#include "eval/summary.h"

namespace thinkd::eval {

std::string to_html(std::span<const Summary> summaries);

}  // namespace thinkd::eval
