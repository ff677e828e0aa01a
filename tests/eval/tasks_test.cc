// Adapters on real slices, and what they refuse.

#include "eval/tasks.h"

#include "base/file.h"
#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::eval;

namespace {

std::string data(const std::string& name) {
  const auto text = read_file(THINKD_SOURCE_DIR "/tests/data/" + name, 1 << 20);
  REQUIRE(text.ok());
  return *text;
}

TaskFile read(std::string_view text, std::string_view task = "") {
  const auto file = read_problems("data", text, task);
  INFO(file.status().message());
  REQUIRE(file.ok());
  return *file;
}

std::string refused(std::string_view text, std::string_view task = "") {
  const auto file = read_problems("data", text, task);
  REQUIRE_FALSE(file.ok());
  CHECK(file.status().code() == Code::invalid);
  return file.status().message();
}

verifiers::Outcome graded(const Problem& problem, std::string_view text) {
  return verifiers::grade(problem.graded, text).outcome;
}

}  // namespace

TEST_CASE("GSM8K") {
  const TaskFile file = read(data("gsm8k/test_first12.jsonl"));
  CHECK(file.task == "gsm8k");
  REQUIRE(file.problems.size() == 12);
  const Problem& ducks = file.problems.front();
  CHECK(ducks.id == "1");
  CHECK(ducks.row == 1);
  CHECK(ducks.task == "gsm8k");
  CHECK_THAT(ducks.prompt, Contains("Janet"));
  CHECK(ducks.prompt.find("18") == std::string::npos);
  CHECK(ducks.graded.reference == "18");
  CHECK(graded(ducks, "She makes $18 a day. The answer is 18.") == verifiers::Outcome::correct);
  CHECK(graded(ducks, "The answer is 16.") == verifiers::Outcome::wrong);
  for (const Problem& problem : file.problems) {
    CHECK(graded(problem, "#### " + problem.graded.reference) == verifiers::Outcome::correct);
  }
}

TEST_CASE("Game of 24: every rank") {
  const TaskFile file = read(data("game24/24.csv"));
  CHECK(file.task == "game24");
  REQUIRE(file.problems.size() == 1362);
  CHECK(file.problems[900].row == 901);
  CHECK(file.problems.back().id == "1362");
  const Problem& first = file.problems.front();
  CHECK(first.task == "countdown");
  CHECK(first.graded.problem.numbers == std::vector<int64_t>{1, 1, 4, 6});
  CHECK_THAT(first.prompt, Contains("1, 1, 4 and 6") && Contains("24"));
  CHECK(graded(first, "Answer: 4 * 6 * 1 * 1") == verifiers::Outcome::correct);
  CHECK(graded(first, "Answer: 4 * 6") == verifiers::Outcome::wrong);
}

TEST_CASE("Game of 24 as a spreadsheet writes it") {
  const TaskFile file = read(
      "\"Rank\",\"Puzzles\",\"Note\"\r\n\"1\",\"1 1 4 6\",\"easy, \"\"very\"\"\r\nso\"\r\n"
      "2,\"1 1 11 11\",\r\n");
  CHECK(file.task == "game24");
  REQUIRE(file.problems.size() == 2);
  CHECK(file.problems[0].graded.problem.numbers == std::vector<int64_t>{1, 1, 4, 6});
  CHECK(file.problems[1].row == 2);
  CHECK_THAT(refused("Rank,Puzzles\n1,\"1 1\n4 x\"\n"), Contains("data:2"));
  CHECK_THAT(refused("Rank,Puzzles\n\n1,\"1 1 4 6\n"), Contains("data:3") && Contains("closed"));
}

TEST_CASE("Countdown in two forms") {
  const TaskFile plain = read(R"({"id":"a","numbers":[3,5,8,9],"target":24})"
                              "\n\n"
                              R"({"id":7,"numbers":[3,8,9],"target":24,"use":"any"})");
  CHECK(plain.task == "countdown");
  CHECK(plain.problems[1].id == "7");
  CHECK(plain.problems[1].row == 2);
  CHECK(graded(plain.problems[0], "3*8") == verifiers::Outcome::wrong);
  CHECK(graded(plain.problems[1], "3*8") == verifiers::Outcome::correct);
  CHECK_THAT(plain.problems[1].prompt, Contains("at most once"));

  const TaskFile cd3 = read(R"({"input": "30,100,93", "output": "23"})");
  CHECK(cd3.task == "countdown_cd3");
  CHECK(graded(cd3.problems[0], "Answer: 30 + 93 - 100 = 23") == verifiers::Outcome::correct);
}

TEST_CASE("plain questions, and the kinds that are named") {
  const TaskFile file = read(R"({"id":"q","question":"Half of one?","answer":"1/2"})");
  CHECK(file.task == "math");
  CHECK(graded(file.problems[0], "so \\boxed{0.5}") == verifiers::Outcome::correct);
  const TaskFile contest = read(R"({"unique_id":"t/1","problem":"2+2?","expected_answer":4})");
  CHECK(contest.problems[0].id == "t/1");
  CHECK(graded(contest.problems[0], "\\boxed{4}") == verifiers::Outcome::correct);
  const TaskFile letter = read(R"({"question":"A or B?","answer":"B"})", "choice");
  CHECK(letter.task == "choice");
  CHECK(graded(letter.problems[0], "The answer is (B).") == verifiers::Outcome::correct);
  const TaskFile words = read(R"({"question":"Sky?","answer":"Blue"})", "text");
  CHECK(graded(words.problems[0], "The answer is blue.") == verifiers::Outcome::correct);
}

TEST_CASE("what is refused says what was seen and what is known") {
  const std::string unknown = refused(R"({"prompt":"?","gold":"1"})");
  CHECK_THAT(unknown, Contains("gold, prompt") && Contains("gsm8k, math") && Contains("data:1"));
  CHECK_THAT(refused("{}", "chess"), Contains("chess") && Contains("game24"));
  CHECK_THAT(refused(R"({"question":"?","answer":"1"})", "gsm8k"), Contains("#### N"));
  CHECK_THAT(refused(R"({"question":"?","answer":"1"})", "game24"), Contains("game24"));
  CHECK_THAT(refused("Rank,Puzzles\n1,1 1 4 6\n", "gsm8k"), Contains("Rank,Puzzles"));
  CHECK_THAT(refused("Rank,Puzzles\n1,1 1 4 x\n"), Contains("data:2"));
  CHECK_THAT(refused("{\"id\":1,\"question\":\"?\",\"answer\":\"1\"}\n"
                     "{\"id\":\"1\",\"question\":\"?\",\"answer\":\"1\"}\n"),
             Contains("data:2") && Contains("twice"));
  CHECK_THAT(refused("{\"question\":\"?\",\"answer\":\"1\"}\n{\"question\":"), Contains("data:2"));
  CHECK_THAT(refused(R"({"numbers":[1,2.5],"target":3})"), Contains("numbers"));
  CHECK_THAT(refused(R"({"numbers":[1,2],"target":"3"})"), Contains("target"));
  CHECK_THAT(refused(R"({"numbers":[1,2],"target":3,"use":"twice"})"), Contains("use"));
  CHECK_THAT(refused(R"({"numbers":[],"target":3})"), Contains("1 to 16"));
  CHECK_THAT(refused(R"([1,2])"), Contains("object"));
  CHECK_THAT(refused("\n\n"), Contains("no records"));
}

TEST_CASE("ranges") {
  const auto range = parse_range("901-1000");
  REQUIRE(range.ok());
  CHECK(range->first == 901);
  CHECK(range->last == 1000);
  for (const char* wrong : {"", "5", "0-3", "4-3", "a-b", "1-2-3", " 1-2", "-1-2"}) {
    INFO(wrong);
    CHECK_FALSE(parse_range(wrong).ok());
  }
}
