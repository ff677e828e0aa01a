#pragma once
// What exists, as JSON: the lists that the methods give and that the command line prints with
// --json.

#include <string>

#include "base/json.h"
#include "base/status.h"
#include "search/registry.h"
#include "verifiers/registry.h"

namespace thinkd::daemon {

// [ { "name", "description", "source", "origin", "params" } ]
OrderedJson strategies_json(const search::Registry& registry);

// { "name", "aliases", "roles", "description", "source", "params" }
OrderedJson verifier_json(const verifiers::VerifierInfo& info);
OrderedJson verifiers_json(const verifiers::Verifiers& verifiers);

// [ { "name", "path", "bytes", "sha256", "architecture", "quantization", "parameters", "context",
// "runs", "error" } ]: "error" is why the file cannot be read or run, null where it can.
Result<OrderedJson> models_json(const std::string& store_dir);

}  // namespace thinkd::daemon
