#include "daemon/exit_code.h"

namespace thinkd::daemon {

int exit_code(const Status& status) {
  switch (status.code()) {
    case Code::ok:
      return kExitDone;
    case Code::invalid:
      return kExitUsage;
    case Code::limit:
      return kExitRefused;
    case Code::cancelled:
      return kExitInterrupted;
    default:
      return kExitFailed;
  }
}

int store_exit_code(const Status& status) {
  return status.code() == Code::conflict ? kExitRefused : exit_code(status);
}

}  // namespace thinkd::daemon
