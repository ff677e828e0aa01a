#include "eval/membership.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace thinkd::eval {

Status check_samples(std::span<const Sample> samples, const Manifest& manifest,
                     const std::set<std::string_view>* ids) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const auto foreign = [&](const std::string& what) {
      return corrupt("line " + std::to_string(i + 1) + ": " + what);
    };
    const auto& strategies = manifest.strategies;
    if (std::find(strategies.begin(), strategies.end(), sample.strategy) == strategies.end()) {
      return foreign("strategy '" + escape_controls(sample.strategy) +
                     "' is not one of this evaluation");
    }
    if (sample.sample >= manifest.samples) {
      return foreign("sample " + std::to_string(sample.sample) + "; this evaluation has " +
                     std::to_string(manifest.samples) + " a problem, counted from 0");
    }
    seen.insert(sample.problem_id);
    if (ids != nullptr ? !ids->contains(sample.problem_id) : seen.size() > manifest.problems) {
      return foreign("problem '" + escape_controls(sample.problem_id) +
                     (ids != nullptr
                          ? "' is not one of this evaluation"
                          : "' is one more than the " + std::to_string(manifest.problems) +
                                " of this evaluation"));
    }
  }
  return {};
}

}  // namespace thinkd::eval
