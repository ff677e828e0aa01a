#pragma once
// Where a command's runs are: in a daemon, or in a store that this process opens itself.

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "daemon/cli/arguments.h"
#include "daemon/rpc/client.h"
#include "memory/store.h"

namespace thinkd::daemon {

struct Place {
  std::string store_dir;
  std::optional<Endpoint> daemon;  // where --server says so, or one answers on the store's socket
};

Result<Place> find_place(const Arguments& arguments, const Config& config);

// Says that flags of the engine change nothing where a daemon has loaded the model already.
void warn_of_engine_flags(const Arguments& arguments);

// A store with the model that `run_id` ("" for the latest interrupted run) ran on, where `config`
// names no model: the one in the store's folder with the run's hash.
Status choose_model_of_run(const memory::Store& store, const std::string& run_id, Config& config);

}  // namespace thinkd::daemon
