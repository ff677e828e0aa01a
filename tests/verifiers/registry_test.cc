#include "verifiers/registry.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::verifiers;

TEST_CASE("the registry lists what is real") {
  const Verifiers verifiers;
  for (const VerifierInfo& info : verifiers.list()) {
    INFO(info.name);
    CHECK_FALSE(info.description.empty());
    CHECK_FALSE(info.source.empty());
    CHECK(nlohmann::json::parse(info.parameters)["type"] == "object");
    CHECK(verifiers.find(info.name) == &info);
    CHECK((info.make_grader != nullptr) == info.has(Role::grader));
    const bool judges = info.has(Role::verifier) || info.has(Role::scorer);
    CHECK((info.make_verifier != nullptr || info.reads_states) == judges);
  }
  CHECK(verifiers.find("game24") == verifiers.find("countdown"));
  CHECK(verifiers.find("nobody") == nullptr);
}

TEST_CASE("a grader cannot choose, and a wrong parameter is named") {
  const Verifiers verifiers;
  CHECK(verifiers.judge("exact").status().code() == Code::invalid);
  CHECK(verifiers.grader("mean_logprob").status().code() == Code::invalid);
  CHECK(verifiers.judge("nobody").status().message().find("nobody") != std::string::npos);
  const auto refused = verifiers.judge("countdown", {{"depth", "3"}});
  CHECK(refused.status().message().find("depth") != std::string::npos);
}

TEST_CASE("the built-in ones do what they say") {
  const Verifiers verifiers;
  Problem problem;
  problem.kind = AnswerKind::countdown;
  problem.numbers = {3, 8};
  problem.target = 24;
  CHECK(verifiers.judge("countdown")->texts->check(problem, {"3 * 8", 0, 0}).score == 1.0);
  const auto mean = verifiers.judge("mean_logprob")->texts;
  CHECK(mean->check(problem, {"", -6.0, 4}).score == -1.5);
  // Nothing generated is not certain but worthless: worse than the least likely of texts.
  CHECK(mean->check(problem, {"", 0, 0}).score < mean->check(problem, {"a", -1e30, 1}).score);
  CHECK(std::isfinite(mean->check(problem, {"", 0, 0}).score));
  problem.kind = AnswerKind::math;
  const Verdict verdict = verifiers.judge("extract")->texts->check(problem, {"\\boxed{9}", 0, 0});
  CHECK(verdict.answer == "9");
  CHECK(verdict.outcome == Outcome::none);
  CHECK((*verifiers.grader("numeric"))->grade({problem, "1/2"}, "0.5").outcome == Outcome::correct);
  CHECK((*verifiers.grader("choice"))->grade({problem, "(B)"}, "B").outcome == Outcome::correct);
}
