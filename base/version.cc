#include "base/version.h"

namespace thinkd {

std::string_view version() { return THINKD_VERSION; }
std::string_view build_id() { return THINKD_VERSION "+" THINKD_REVISION; }

}  // namespace thinkd
