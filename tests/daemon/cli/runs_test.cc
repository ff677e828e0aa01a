// What the store remembers: runs, resume, replay.

#include "tests/daemon/cli/program.h"

#include "memory/store.h"

namespace thinkd::testing {
namespace {

using Texts = std::vector<std::string>;

std::string asked(Program& program, const std::string& seed) {
  const Ran ran = program.think({"ask", "Two and two?", "--strategy", "self_consistency:n=3",
                                 "--max-tokens", "16", "--seed", seed, "--json"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  return ran.json()["run_id"];
}

TEST_CASE("runs are listed, shown and forgotten") {
  Program program;
  CHECK(program.run({"runs", "list", "--json"}).json().empty());
  const std::string first = asked(program, "1");
  const std::string second = asked(program, "2");

  const auto list = program.run({"runs", "list", "--json"}).json();
  REQUIRE(list.size() == 2);
  CHECK(list[0]["run_id"] == second);
  CHECK(list[1]["run_id"] == first);
  CHECK(list[1]["state"] == "done");
  CHECK_THAT(program.run({"runs", "list"}).out, Contains(first) && Contains("Two and two?"));

  const auto shown = program.run({"runs", "show", first, "--json"}).json();
  CHECK(shown["request"]["seed"] == 1);
  CHECK(shown["result"]["candidates"].size() == 3);
  CHECK(shown["tree"]["branches"].size() == 4);  // the prompt and three samples of it
  const Ran tree = program.run({"runs", "show", first});
  CHECK_THAT(tree.out, Contains("\n0\n") && Contains("\n  0.0  ") && Contains("\n  0.2  ") &&
                           Contains("candidate"));

  CHECK(program.run({"runs", "rm", first, "none-of-that-name"}).code == 1);  // two may be named
  const Ran gone = program.run({"runs", "show", first});
  CHECK(gone.code == 1);
  CHECK_THAT(gone.err, Contains(first));
  CHECK(program.run({"runs", "list", "--json"}).json().size() == 1);
}

TEST_CASE("a replay is equal, and a changed trace is found out") {
  Program program;
  const std::string run_id = asked(program, "3");
  const Ran equal = program.run({"replay", run_id});  // the model is found by its hash
  INFO(equal.err);
  CHECK(equal.code == 0);
  CHECK_THAT(equal.out, Contains("equal"));
  CHECK(program.think({"replay", run_id, "--json"}).json()["equal"] == true);

  {
    const auto store = memory::Store::open(program.store());
    REQUIRE(store.ok());
    auto record = (*store)->get_run(run_id);
    REQUIRE(record.ok());
    auto request = nlohmann::json::parse(record->request);
    request["request"]["seed"] = 4;  // so that what is generated differs from what is recorded
    record->request = request.dump();
    REQUIRE((*store)->put_run(*record).ok());
  }
  const Ran differs = program.think({"replay", run_id});
  CHECK(differs.code == 1);
  CHECK(differs.out.empty());
  CHECK_THAT(differs.err, Contains("differs at entry"));
  CHECK(program.think({"replay", "no-such-run"}).code == 1);
}

TEST_CASE("an interrupted run goes on and gives what ask would have given") {
  Program program;
  const Ran none = program.think({"resume"});
  CHECK(none.code == 1);
  CHECK_THAT(none.err, Contains("interrupted"));

  const Ran whole = program.think(
      {"ask", "q", "--strategy", "best_of_n:n=3", "--max-tokens", "20", "--seed", "9", "--json"});
  REQUIRE(whole.code == 0);
  const std::string run_id = whole.json()["run_id"];
  {
    // As a crash leaves it: begun, two thirds of its journal there, no result.
    const auto store = memory::Store::open(program.store());
    REQUIRE(store.ok());
    auto record = (*store)->get_run(run_id);
    REQUIRE(record.ok());
    const auto journal = (*store)->read_journal(run_id);
    REQUIRE(journal.ok());
    REQUIRE(journal->size() >= 2);
    REQUIRE((*store)->remove_run(run_id).ok());
    record->state = memory::RunState::running;
    record->result.clear();
    REQUIRE((*store)->put_run(*record).ok());
    for (uint32_t i = 0; i < journal->size() * 2 / 3; ++i) {
      REQUIRE((*store)->append_journal(run_id, i, (*journal)[i]).ok());
    }
  }
  CHECK(program.run({"runs", "list", "--json"}).json()[0]["state"] == "interrupted");
  const Ran resumed = program.think({"resume", "--json"});
  INFO(resumed.err);
  REQUIRE(resumed.code == 0);
  CHECK(resumed.json()["run_id"] == run_id);
  CHECK(stable_part(resumed.json()) == stable_part(whole.json()));
  CHECK(program.think({"resume", run_id}).code == 1);  // over
}

}  // namespace
}  // namespace thinkd::testing
