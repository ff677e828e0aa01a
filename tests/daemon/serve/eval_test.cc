// eval and eval report through the program: the folder is the whole state.

#include <unistd.h>

#include <algorithm>

#include "base/owner.h"
#include "tests/daemon/cli/program.h"

namespace thinkd::testing {
namespace {

using Texts = std::vector<std::string>;

std::string bytes_of(const std::string& path) {
  const auto bytes = read_file(path, 1 << 20);
  INFO(path);
  REQUIRE(bytes.ok());
  return *bytes;
}

TEST_CASE("eval finishes once; the same command again repeats nothing") {
  Program program;
  const std::string data = program.path("three.jsonl");
  const std::string out = program.path("results");
  REQUIRE(write_file(data, R"({"id":"a","question":"One and one?","answer":"2"}
{"id":"b","question":"Two and two?","answer":"4"}
{"id":"c","question":"Three and three?","answer":"6"}
)")
              .ok());
  const Texts eval = {
      "eval",  "--data", data,         "--strategy",           "greedy", "--task", "number",
      "--out", out,      "--strategy", "self_consistency:n=2", "--seed", "5",      "--max-tokens",
      "6",     "--json"};
  Texts dry = eval;
  dry.push_back("--dry-run");
  CHECK(program.think(dry).json()["missing"] == 6);
  CHECK_FALSE(std::filesystem::exists(out));

  const Ran first = program.think(eval);
  INFO(first.err);
  REQUIRE(first.code == 0);
  const auto rows = first.json()["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["strategy"] == "greedy");
  CHECK(rows[1]["strategy"] == "self_consistency:n=2");
  for (const auto& row : rows) {
    CHECK(row["problems"] == 3);
    CHECK(row["generated_tokens"].get<uint64_t>() > 0);
  }
  const std::string log = bytes_of(out + "/samples.jsonl");
  CHECK(std::count(log.begin(), log.end(), '\n') == 6);
  CHECK(nlohmann::ordered_json::parse(bytes_of(out + "/summary.json")) == first.json());

  CHECK(program.think(dry).json()["missing"] == 0);
  const Ran again = program.think(eval);
  REQUIRE(again.code == 0);
  CHECK(again.out == first.out);
  CHECK(bytes_of(out + "/samples.jsonl") == log);

  // The log alone gives the summary again.
  std::filesystem::remove(out + "/summary.json");
  const Ran report = program.run({"eval", "report", out, "--json"});
  INFO(report.err);
  REQUIRE(report.code == 0);
  CHECK(report.json() == first.json());
  CHECK(nlohmann::ordered_json::parse(bytes_of(out + "/summary.json")) == first.json());

  const Ran both = program.run({"eval", "report", out, out, "--json"});
  REQUIRE(both.code == 0);
  CHECK(both.json().size() == 2);

  Texts other = eval;
  std::replace(other.begin(), other.end(), std::string("5"), std::string("6"));
  const Ran refused = program.think(other);
  CHECK(refused.code == 1);
  CHECK_THAT(refused.err, Contains("seed"));

  const auto owner = Owner::claim(out + "/owner.pid", "the folder");
  REQUIRE(owner.ok());
  const Ran held = program.think(eval);
  CHECK(held.code == 3);
  CHECK_THAT(held.err, Contains("process " + std::to_string(getpid())));
  CHECK(bytes_of(out + "/samples.jsonl") == log);
}

}  // namespace
}  // namespace thinkd::testing
