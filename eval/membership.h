#pragma once
// Whether the samples of a log are of the evaluation that its folder's manifest describes: a line
// of another problem, strategy or sample number would be counted with the others. Pure.

#include <set>
#include <span>
#include <string_view>

#include "base/status.h"
#include "eval/log.h"
#include "eval/manifest.h"

namespace thinkd::eval {

// corrupt: the first foreign line, by number and by what is foreign. `ids`: the problems', where
// the data is at hand; without them only their number is held to the manifest.
Status check_samples(std::span<const Sample> samples, const Manifest& manifest,
                     const std::set<std::string_view>* ids = nullptr);

}  // namespace thinkd::eval
