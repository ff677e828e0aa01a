#pragma once
// What a command that thinks needs: the model in an engine, what judges, the strategies, and the
// runs over them, with the store or without one.
//
// Owner: the command. Parts go in the reverse order of their making. Thread rules are those of the
// parts.

#include <memory>
#include <string>

#include "base/status.h"
#include "daemon/config.h"
#include "engine/scheduler/engine.h"
#include "memory/store.h"
#include "search/registry.h"
#include "search/runs.h"
#include "verifiers/registry.h"

namespace thinkd::daemon {

// The folder of `config`'s store, the user's own where it names none.
Result<std::string> store_dir(const Config& config);

// Errors are those of resolve_model, load_language_model and Engine::create.
Result<std::unique_ptr<engine::Engine>> load_engine(const Config& config);

// The kernels that `config` picks here: "avx2".
std::string isa_name(const Config& config);

search::RunsOptions runs_options(const Config& config);

// The strategies that this build has.
Result<search::Registry> builtin_strategies();

// Owns all parts of one process that thinks.
struct House {
  std::unique_ptr<memory::Store> store;  // none: runs live in memory only
  std::unique_ptr<engine::Engine> engine;
  verifiers::Verifiers verifiers;
  search::Registry registry;
  std::unique_ptr<search::Runs> runs;
};

// `store` is taken over; null for none.
Result<std::unique_ptr<House>> build_house(const Config& config,
                                           std::unique_ptr<memory::Store> store);

}  // namespace thinkd::daemon
