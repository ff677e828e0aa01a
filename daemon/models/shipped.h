#pragma once
// The models that come with the program: plain files in share/thinkd/models, under the prefix that
// the program is installed in or under its build folder.

#include <string>
#include <string_view>

namespace thinkd::daemon {

// What runs where nobody names a model.
inline constexpr std::string_view kShippedModel = "countdown";

// Their folder, found from where the running program lies; empty where there is none.
std::string shipped_models_folder();

}  // namespace thinkd::daemon
