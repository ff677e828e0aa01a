#pragma once
// Which thinkd this is. The build is part of what determines a run's bytes: journals, evaluation
// folders and block hashes carry it.

#include <string_view>

namespace thinkd {

std::string_view version();   // "0.1.0"
std::string_view build_id();  // version and source revision, "0.1.0+1a2b3c4"

}  // namespace thinkd
