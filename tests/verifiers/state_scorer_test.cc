// The learned scorer: its formula written out, and what its file is refused for.

#include "verifiers/state_scorer.h"

#include <cmath>
#include <limits>

#include "base/file.h"
#include "tests/support/catch.h"
#include "tests/support/scorer_file.h"
#include "tests/support/scratch.h"
#include "verifiers/registry.h"

using namespace thinkd;
using namespace thinkd::testing;
using namespace thinkd::verifiers;

namespace {

const std::string kModel(64, 'a');

Result<std::shared_ptr<const StateScorer>> opened(const GgufWriter& file, uint32_t width = 2) {
  const ScratchFolder folder;
  const std::string path = folder.path("m.scorer.gguf");
  REQUIRE(write_file(path, file.bytes()).ok());
  return StateScorer::open(path, kModel, width);
}

ScorerWeights by_hand() { return {2, {1, 2, 0, -1}, {0.5, 0}, {1, -2}, {0.25}}; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

TEST_CASE("a score is the formula's") {
  const auto scorer = opened(scorer_file(by_hand(), kModel));
  REQUIRE(scorer.ok());
  for (const auto& [x, y] : {std::pair{0.f, 0.f}, {1.f, -2.f}, {-3.f, 0.5f}, {40.f, 40.f}}) {
    const double first = 1.0 * x + 2.0 * y + 0.5;
    const double second = -1.0 * y;
    const double sum = first * sigmoid(first) - 2 * second * sigmoid(second) + 0.25;
    const float state[] = {x, y};
    CHECK((*scorer)->score(state) == Approx(sigmoid(sum)).epsilon(1e-12));
  }
}

TEST_CASE("a state that is none scores nothing") {
  const auto scorer = opened(scorer_file(by_hand(), kModel));
  REQUIRE(scorer.ok());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float broken[] = {nan, 1};
  const float longer[] = {1, 1, 1};
  CHECK((*scorer)->score(broken) == 0);
  CHECK((*scorer)->score(longer) == 0);
  CHECK((*scorer)->score({}) == 0);
}

TEST_CASE("a scorer's file is refused by name") {
  const auto refusal = [](const GgufWriter& file, uint32_t width = 2) {
    return opened(file, width).status();
  };
  const Status other = refusal(scorer_file(by_hand(), std::string(64, 'b')));
  CHECK(other.code() == Code::conflict);
  CHECK_THAT(other.message(), Contains(std::string(64, 'b')) && Contains(kModel));

  CHECK_THAT(refusal(scorer_file(by_hand(), kModel), 3).message(),
             Contains("tensor 'w1' must be F32 of 3 x 2; it has 2 x 2"));

  ScorerWeights infinite = by_hand();
  infinite.w2[1] = std::numeric_limits<float>::infinity();
  CHECK_THAT(refusal(scorer_file(infinite, kModel)).message(),
             Contains("tensor 'w2' holds a number that is not finite"));

  GgufWriter bare;
  bare.key_text("general.architecture", "thinkd-scorer");
  CHECK_THAT(refusal(bare).message(), Contains("thinkd.scorer.model_sha256"));
  bare.key_text("thinkd.scorer.model_sha256", kModel);
  CHECK(refusal(bare).code() == Code::limit);  // no layer
  bare.tensor("b1", {2}, 0, floats({0, 0}));
  CHECK_THAT(refusal(bare).message(), Contains("tensor 'w1' is missing"));

  GgufWriter model;
  model.key_text("general.architecture", "llama");
  CHECK_THAT(refusal(model).message(), Contains("general.architecture"));
  CHECK(StateScorer::open("/nowhere/m.scorer.gguf", kModel, 2).status().code() == Code::not_found);
}

TEST_CASE("a scorer lies beside its model") {
  CHECK(StateScorer::path_beside("/models/a.gguf") == "/models/a.scorer.gguf");
  CHECK(StateScorer::path_beside("a") == "a.scorer.gguf");
}

TEST_CASE("a model's own scorer is the default where there is one") {
  Verifiers verifiers;
  CHECK(verifiers.default_scorer() == "mean_logprob");
  CHECK(verifiers.judge("step_scorer").status().code() == Code::unavailable);
  const auto scorer = opened(scorer_file(by_hand(), kModel));
  REQUIRE(scorer.ok());
  verifiers.attach(*scorer);
  CHECK(verifiers.default_scorer() == "step_scorer");
  CHECK(verifiers.judge("step_scorer")->states == *scorer);
  CHECK(verifiers.judge("step_scorer")->texts == nullptr);
  CHECK_THAT(verifiers.judge("step_scorer", {{"k", "1"}}).status().message(), Contains("'k'"));
}
