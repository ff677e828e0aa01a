// SmolLM2 135M against transformers on the same weights (tests/reference/logits/make.py).

#include <cstdlib>
#include <filesystem>

#include "tests/engine/runner/reference.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::testing;

namespace {

std::string model_path() {
  if (const char* named = std::getenv("THINKD_TEST_MODEL")) {
    return named;
  }
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  const std::string base = state ? state : std::string(home ? home : "") + "/.local/state";
  return base + "/thinkd/models/smollm2-135m.gguf";
}

// ThreadSanitizer makes a step some fifty times slower; threads race in the first ones or never.
#ifdef __SANITIZE_THREAD__
constexpr ReferenceLimits kLimits = {60, 4};
#else
constexpr ReferenceLimits kLimits = {};
#endif

}  // namespace

TEST_CASE("log-probs and greedy tokens of SmolLM2 135M match transformers") {
  const std::string path = model_path();
  if (!std::filesystem::exists(path)) {
    WARN("SKIPPED: no model at " << path << "; set THINKD_TEST_MODEL or pull smollm2-135m");
    return;
  }
  ModelOptions options;
  options.compute = ComputeMode::f32;
  const LoadedRunner loaded = load_runner(path, options);
  const Compared compared = compare_with_reference(*loaded.runner, "smollm2-135m.jsonl", kLimits);
  CHECK(compared.lines == 10);
  WARN("largest difference of a prompt's log-prob "
       << compared.worst << "; greedy choices too close to compare:"
       << (compared.near_ties.empty() ? " none" : compared.near_ties));
}
