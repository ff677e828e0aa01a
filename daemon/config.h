#pragma once
// What the program is told once: by a TOML file (--config), then by flags, which win. Each key has
// one name in the file (kv_pool) and one on the command line (--kv-pool) and is read and checked by
// the same rule. An unknown key, a wrong type or a value out of range is `invalid` and named, with
// the file. Plain values: no owner, no thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "base/status.h"
#include "engine/model/language_model.h"

namespace thinkd::daemon {

struct Config {
  std::string model;     // a path or a name in the store's folder of models; "" for none
  std::string store;     // folder; "" for the user's own (memory/paths.h)
  uint32_t threads = 0;  // kernel threads; 0: one a core
  engine::ComputeMode compute = engine::ComputeMode::automatic;
  std::string isa;                   // "" picks the best that this machine runs
  uint64_t kv_pool = 0;              // bytes; 0: a quarter of the memory, at most 4 GiB
  std::optional<engine::KvType> kv;  // default: f16, f32 with compute f32
  std::string listen = "127.0.0.1:7333";
  uint32_t page_share = 4;  // a run's page quota is 1/page_share of the pool
  uint32_t strategy_threads = limits::kStrategyThreads;  // runs thinking at once; the rest queue
  double drain_seconds = 30;  // how long serve lets runs finish before it interrupts them
};

// Every key there is, in the order of configs/thinkd.toml.
std::vector<std::string_view> config_keys();

// The file's keys over what `config` holds. `io`, `not_found`: it cannot be read; `invalid`: what
// is in it.
Status read_config(const std::string& path, Config& config);

// One key given as a flag; the error names the flag.
Status set_from_flag(std::string_view key, std::string_view text, Config& config);

// "kv_pool" <-> "kv-pool"
std::string flag_of(std::string_view key);

}  // namespace thinkd::daemon
