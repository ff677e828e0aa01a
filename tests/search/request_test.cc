// Requests, strategies and budgets: what is read, what is refused and in which words.

#include <nlohmann/json.hpp>

#include "search/request.h"
#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::search;

namespace {

std::string refusal(std::string_view json) {
  const Result<Json> value = parse_json(json);
  REQUIRE(value.ok());
  const Result<Request> request = request_from_json(*value);
  REQUIRE_FALSE(request.ok());
  return request.status().message();
}

std::string refused_strategy(std::string_view text) {
  const auto spec = parse_strategy(text);
  REQUIRE_FALSE(spec.ok());
  return spec.status().message();
}

}  // namespace

TEST_CASE("a strategy reads as typed and writes back") {
  const auto spec = parse_strategy(
      R"(self_consistency:n=16,final="a,b:+\"",x=0.5,y=true+step_prune:width=8+s:threshold=0.9)");
  REQUIRE(spec.ok());
  CHECK(spec->name == "self_consistency");
  CHECK(spec->params == R"({"final":"a,b:+\"","n":16,"x":0.5,"y":true})");
  REQUIRE(spec->attach.size() == 2);
  CHECK(spec->attach[0].name == "step_prune");
  CHECK(spec->attach[0].params == R"({"width":8})");
  const auto again = parse_strategy(strategy_text(*spec));
  REQUIRE(again.ok());
  CHECK(search::to_json(*again) == search::to_json(*spec));
  const auto from_json = strategy_from_json(search::to_json(*spec));
  REQUIRE(from_json.ok());
  CHECK(search::to_json(*from_json) == search::to_json(*spec));
}

TEST_CASE("a strategy that is not one is refused by name") {
  CHECK_THAT(refused_strategy(""), Contains("strategy name"));
  CHECK_THAT(refused_strategy("best_of_n:n"), Contains("n has no value"));
  CHECK_THAT(refused_strategy("best_of_n:n=02"), Contains("parameter n: the number '02'"));
  CHECK_THAT(refused_strategy("best_of_n:n=1,n=2"), Contains("n is given twice"));
  CHECK_THAT(refused_strategy("best_of_n:stop=a:b"), Contains("JSON string"));
  CHECK_THAT(refused_strategy("best_of_n:stop=\"a"), Contains("not closed"));
  CHECK_THAT(refused_strategy("a+b+c+d+e+f+g+h+i+j"), Contains("8 attachments"));
}

TEST_CASE("budgets name their members") {
  const auto budget = parse_budget("tokens=100, seconds=2.5,flops=1e15");
  REQUIRE(budget.ok());
  CHECK(budget->tokens == 100u);
  CHECK(budget->seconds == 2.5);
  CHECK(budget->flops == 1'000'000'000'000'000u);
  CHECK_FALSE(budget->longest);
  const auto bad = [](std::string_view text) { return parse_budget(text).status().message(); };
  CHECK_THAT(bad("tokens=0"), Contains("tokens must be an integer from 1"));
  CHECK_THAT(bad("tokens=-1"), Contains("tokens"));
  CHECK_THAT(bad("seconds=0"), Contains("seconds must be a number above 0"));
  CHECK_THAT(bad("coins=3"), Contains("coins"));
  CHECK_THAT(bad("tokens"), Contains("name=number"));
  CHECK_THAT(bad("tokens =5"), Contains("unknown member \"tokens \""));
  CHECK_THAT(bad("tokens= 5"), Contains("tokens"));
  CHECK_THAT(bad("tokens=05"), Contains("tokens must be an integer from 1"));
  CHECK_THAT(bad("seconds=01.5"), Contains("seconds must be a number"));
}

TEST_CASE("a request round-trips through JSON") {
  const Result<Json> value = parse_json(R"({
    "question": "2+2?", "system": "be brief", "task": "countdown", "numbers": [3,5], "target": 24,
    "use": "any", "strategy": {"name": "best_of_n", "params": {"n": 8}},
    "budget": {"tokens": 10, "seconds": 1}, "verifier": "countdown", "temperature": 0.5,
    "top_p": 0.9, "min_p": 0.1, "top_k": 40, "stop": ["x"], "seed": 18446744073709551615,
    "run_id": "a.b-c_1", "problem_id": "p", "sample": 3, "detach": true, "trace": false,
    "priority": -2, "max_tokens": 5, "repetition_penalty": 1.5})");
  REQUIRE(value.ok());
  const Result<Request> request = request_from_json(*value);
  REQUIRE(request.ok());
  CHECK(request->messages.size() == 2);
  CHECK(question_of(*request) == "2+2?");
  CHECK(stream_of(*request) == "p/3");
  const Json once = search::to_json(*request);
  const Result<Request> again = request_from_json(once);
  REQUIRE(again.ok());
  CHECK(search::to_json(*again) == once);
}

TEST_CASE("a wrong member is named with what it may be") {
  CHECK_THAT(refusal(R"({"question":"q","strateggy":"greedy"})"), Contains("strateggy"));
  CHECK_THAT(refusal(R"({"question":1})"), Contains("question must be text, not 1"));
  CHECK(refusal(R"({"question":"q","seed":")" + std::string(5000, 'x') + "\"}").size() < 200);
  CHECK_THAT(refusal(R"({"question":""})"), Contains("question is empty"));
  CHECK_THAT(refusal(R"({})"), Contains("question (or messages) is missing"));
  CHECK_THAT(refusal(R"({"question":"q","messages":[{"role":"user","content":"q"}]})"),
             Contains("both given"));
  CHECK_THAT(refusal(R"({"question":"q","seed":-1})"), Contains("seed must be an integer from 0"));
  CHECK_THAT(refusal(R"({"question":"q","top_p":0})"), Contains("top_p must be a number from"));
  CHECK_THAT(refusal(R"({"question":"q","top_p":1e-60})"), Contains("top_p must be a number from"));
  CHECK_THAT(refusal(R"({"question":"q","temperature":101})"), Contains("from 0 to 100, not 101"));
  CHECK_THAT(refusal(R"({"question":"q","run_id":"a/b"})"), Contains("run_id"));
  CHECK_THAT(refusal(R"({"question":"q","task":"chess"})"), Contains("gsm8k"));
  CHECK_THAT(refusal(R"({"question":"q","budget":{"tokens":1.5}})"), Contains("tokens"));
  CHECK_THAT(refusal(R"({"question":"q","task":"game24"})"), Contains("numbers is missing"));
  CHECK_THAT(refusal(R"({"question":"q","task":"countdown","numbers":[]})"),
             Contains("numbers is missing"));
  CHECK_THAT(refusal(R"({"question":"q","task":"countdown","numbers":[1]})"),
             Contains("target is missing"));
  CHECK_THAT(refusal(R"({"question":"q","stop":["a","b","c","d","e"]})"), Contains("1 to 4 texts"));
  CHECK_THAT(refusal(R"({"question":"q","detach":1})"), Contains("true or false"));
}

TEST_CASE("numbers without words are a question") {
  const auto read = [](const char* text) { return *request_from_json(*parse_json(text)); };
  const Request request = read(R"({"task":"countdown","numbers":[3,5,8],"target":-7,"use":"any"})");
  CHECK_THAT(question_of(request),
             Contains("Use the numbers 3, 5 and 8, each at most once") && Contains("is -7."));
  CHECK(question_of(read(R"({"task":"game24","question":"","numbers":[4]})")).find("is 24.") !=
        std::string::npos);
  CHECK(question_of(read(R"({"task":"game24","question":"mine","numbers":[4]})")) == "mine");
  CHECK(read(R"({"numbers":[4],"target":4})").task == "countdown");
  CHECK(read(R"({"numbers":[4]})").task == "game24");
  CHECK(read(R"({"task":"game24","system":"s","numbers":[4]})").messages.size() == 2);
}
