#include "base/status.h"

namespace thinkd {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid:
      return "invalid";
    case Code::not_found:
      return "not_found";
    case Code::limit:
      return "limit";
    case Code::corrupt:
      return "corrupt";
    case Code::io:
      return "io";
    case Code::cancelled:
      return "cancelled";
    case Code::conflict:
      return "conflict";
    case Code::unavailable:
      return "unavailable";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace thinkd
