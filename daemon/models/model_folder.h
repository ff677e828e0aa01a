#pragma once
// The folder of pulled models: plain files DIR/models/NAME.gguf, DIR being the store's folder.
// Nothing is kept about them beside the files, so a file that a user puts there is a model like any
// other. Beside it stands the folder of the models that come with the program (shipped.h); where
// both have a name, the store's is meant.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "daemon/models/shipped.h"
#include "engine/model/model_summary.h"

namespace thinkd::daemon {

// 1 to 128 letters, digits, '.', '_' or '-', not beginning with '.' or '-': it can only name a file
// in its folder.
bool is_model_name(std::string_view name);

// DIR/models
std::string models_folder(const std::string& store_dir);

struct ListedModel {
  std::string name;
  std::string path;
  Status readable;               // why there is no summary
  engine::ModelSummary summary;  // empty where not readable
};

// Sorted by name. A folder that is not there has no models. Files that are no models are listed
// with the reason, since a user who put them there wants to know.
Result<std::vector<ListedModel>> list_models(const std::string& store_dir,
                                             const std::string& shipped = shipped_models_folder());

// Where the model is that `--model` means. What ends in .gguf or contains '/' is a path, anything
// else a name; nothing is kShippedModel. Errors: not_found (what is there, and how to pull),
// invalid (neither name nor path).
Result<std::string> resolve_model(const std::string& name_or_path, const std::string& store_dir,
                                  const std::string& shipped = shipped_models_folder());

}  // namespace thinkd::daemon
