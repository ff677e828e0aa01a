// The shipped model against PyTorch on the same weights (models/countdown/reference.py), against
// its card, and doing what it is there for: the same strategies, with and without search.

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "daemon/house.h"
#include "eval/command.h"
#include "search/runs.h"
#include "tests/engine/runner/reference.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::testing;

namespace {

const std::string kFolder = THINKD_SOURCE_DIR "/models/countdown/";
const std::string kModel = kFolder + "countdown.gguf";

// Prompts, texts and scores of thinkd's own reference path, against PyTorch's.
std::unique_ptr<daemon::House> house_of(engine::ComputeMode compute) {
  daemon::Config config;
  config.model = kModel;
  config.compute = compute;
  config.kv_pool = 64 << 20;
  auto house = daemon::build_house(config, nullptr);
  INFO(house.status().message());
  REQUIRE(house.ok());
  return *std::move(house);
}

std::vector<Json> reference_lines() {
  const auto text = read_file(THINKD_SOURCE_DIR "/tests/data/logits/countdown.jsonl", 1 << 20);
  REQUIRE(text.ok());
  std::vector<Json> lines;
  for (const std::string_view line : split(*text, '\n')) {
    if (!line.empty()) {
      lines.push_back(Json::parse(line));
    }
  }
  return lines;
}

struct Told {
  std::vector<double> scores;
  search::Answer answer;
};

// One branch, step by step, without chance.
Told step_by_step(daemon::House& house, const Json& puzzle) {
  Json members = {{"numbers", puzzle["numbers"]},
                  {"target", puzzle["target"]},
                  {"seed", 1U},
                  {"temperature", 0},
                  {"strategy", "beam:n=1,width=1"}};
  auto request = search::request_from_json(members);
  INFO(request.status().message());
  REQUIRE(request.ok());
  Told told;
  const auto run_id = house.runs->start(*request, [&](const search::Event& event) {
    if (event.kind == search::EventKind::scored) {
      told.scores.push_back(*event.score);
    }
  });
  REQUIRE(run_id.ok());
  auto answer = house.runs->wait(*run_id);
  REQUIRE(answer.ok());
  told.answer = *std::move(answer);
  return told;
}

}  // namespace

TEST_CASE("countdown: log-probs and greedy tokens match PyTorch") {
  engine::ModelOptions options;
  options.compute = engine::ComputeMode::f32;
  const LoadedRunner loaded = load_runner(kModel, options);
  const Compared compared = compare_with_reference(*loaded.runner, "countdown.jsonl");
  CHECK(compared.lines == 10);
  INFO("largest difference " << compared.worst);
  CHECK(compared.worst < 1e-3);
}

TEST_CASE("countdown: prompts, texts and step scores match PyTorch") {
  const auto house = house_of(engine::ComputeMode::f32);
  const engine::Tokenizer& tokenizer = *house->engine->model().tokenizer;
  for (const Json& puzzle : reference_lines()) {
    INFO(puzzle["name"].get<std::string>());
    const Told told = step_by_step(*house, puzzle);
    CHECK(told.answer.ledger.prompt_tokens == puzzle["prompt"].size());
    REQUIRE(told.answer.candidates.size() == 1);
    const auto greedy = puzzle["greedy"].get<std::vector<engine::Token>>();
    CHECK(told.answer.candidates[0].text == tokenizer.decode(greedy, false));
    const auto scores = puzzle["scores"].get<std::vector<double>>();
    REQUIRE(told.scores.size() == scores.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      CHECK(std::abs(told.scores[i] - scores[i]) < 1e-3);
    }
  }
}

TEST_CASE("countdown: the card names these files") {
  const auto card = read_file(kFolder + "README.md", 1 << 20);
  REQUIRE(card.ok());
  for (const char* name : {"countdown.gguf", "countdown.scorer.gguf"}) {
    const auto hash = sha256_file(kFolder + name);
    REQUIRE(hash.ok());
    INFO(name);
    CHECK_THAT(*card, Contains(hex(*hash)));
  }
  CHECK(std::filesystem::file_size(kModel) <= 8'000'000);
}

TEST_CASE("countdown: alone it solves some, with search and its own scorer far more") {
  const auto house = house_of(engine::ComputeMode::automatic);
  const ScratchFolder scratch;
  eval::EvalOptions options;
  options.data = kFolder + "puzzles/hard24_validation.jsonl";
  options.out = scratch.path("out");
  options.strategies = {"greedy", "best_of_n:n=16"};
  options.limit = 40;
  options.seed = 1;
  const eval::ModelIdentity identity = {
      "countdown", house->engine->model().info.sha256, "Q8_0", "test", "any", "auto", "f16"};
  const auto summary = eval::run(options, *house->runs, identity, nullptr, {});
  INFO(summary.status().message());
  REQUIRE(summary.ok());
  const double greedy = *summary->rows[0].accuracy;
  const double best = *summary->rows[1].accuracy;
  INFO("greedy " << greedy << ", best of 16 " << best);
  CHECK(greedy >= 0.1);
  CHECK(greedy <= 0.8);
  CHECK(best >= greedy + 0.1);
}
