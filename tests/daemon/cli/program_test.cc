// Usage, lists and the engine alone.

#include "tests/daemon/cli/program.h"

#include <cmath>

namespace thinkd::testing {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("usage errors are 2, one line, named") {
  Program program;
  struct Case {
    Texts arguments;
    std::string told;
  };
  const Case cases[] = {
      {{}, "subcommand"},
      {{"think"}, "no command 'think'"},
      {{"runs", "make"}, "no command 'runs make'"},
      {{"ask"}, "QUESTION"},
      {{"ask", ""}, "QUESTION is empty"},
      {{"ask", "q", "r"}, "r"},
      {{"ask", "q", "--no-such-flag"}, "--no-such-flag"},
      {{"ask", "q", "--seed", "1", "--seed", "2"}, "--seed"},
      {{"ask", "q", "--seed", "-1"}, "--seed"},
      {{"ask", "q", "--seed", "1e3"}, "--seed"},
      {{"ask", "q", "--threads", "lots"}, "--threads"},
      {{"ask", "q", "--compute", "f64"}, "--compute"},
      {{"ask", "q", "--isa", "sse9"}, "--isa"},
      {{"ask", "q", "--kv", "int3"}, "--kv"},
      {{"ask", "q", "--kv-pool", "1G"}, "--kv-pool"},
      {{"ask", "q", "--temperature", "hot"}, "--temperature"},
      {{"ask", "q", "--temperature", "1e400"}, "--temperature"},
      {{"ask", "q", "--top-p", "0"}, "--top-p must be"},
      {{"ask", "q", "--top-p", "1e-60"}, "--top-p must be"},
      {{"ask", "q", "--min-p", "2"}, "--min-p must be"},
      {{"ask", "q", "--max-tokens", "0"}, "--max-tokens must be"},
      {{"ask", "q", "--seed", "02"}, "--seed"},
      {{"ask", "q", "--temperature", "00.5"}, "--temperature"},
      {{"ask", "q", "--threads", "02"}, "--threads"},
      {{"ask", "q", "--isa", ""}, "--isa: the text is empty"},
      {{"ask", "q", "--task", ""}, "--task: the text is empty"},
      {{"models", "pull", "x", "--name", ""}, "--name: the text is empty"},
      {{"ask", "q", "--top-k", "1.5"}, "--top-k"},
      {{"ask", "q", "--stop", ""}, "stop"},
      {{"ask", "q", "--task", "poetry"}, "task"},

      {{"ask", "q", "--task", "countdown"}, "numbers"},
      {{"ask", "--task", "countdown", "--numbers", "3,5"}, "target"},
      {{"ask", "--task", "countdown", "--numbers", "3,x", "--target", "8"},
       "'x' is not an integer"},
      {{"ask", "--task", "game24", "--numbers", "4,6", "--target", "2.5"}, "--target: '2.5'"},
      {{"ask", "--task", "game24", "--numbers", "4,6", "--use", "some"}, "use"},
      {{"ask", "q", "--budget", "tokens"}, "budget"},
      {{"ask", "q", "--budget", "tokens=0"}, "--budget: tokens"},
      {{"ask", "q", "--budget", "tokens =5"}, "--budget: unknown member \"tokens \""},
      {{"ask", "q", "--budget", "tokens=-5"}, "tokens"},
      {{"ask", "q", "--budget", "token=5"}, "unknown member \"token\""},
      {{"ask", "q", "--budget", "seconds=nan"}, "seconds"},
      {{"ask", "q", "--budget", "tokens=1,tokens=2"}, "twice"},
      {{"ask", "q", "--strategy", "magic"}, "magic"},
      {{"ask", "q", "--strategy", "best_of_n:n=0"}, "n is 0"},
      {{"ask", "q", "--strategy", "best_of_n:n=02"}, "--strategy: best_of_n: parameter n: the num"},
      {{"ask", "q", "--strategy", "best_of_n:scorer=nobody"}, "--strategy: best_of_n: parameter"},
      {{"ask", "q", "--strategy", "best_of_n:m=1"}, "\"m\""},
      {{"ask", "q", "--verifier", "nobody"}, "nobody"},
      {{"complete"}, "TEXT"},
      {{"complete", "x", "--file", "y"}, "both"},
      {{"complete", "x", "--tokens", "0"}, "--tokens"},
      {{"complete", "x", "--top-p", "0"}, "--top-p must be"},
      {{"complete", "x", "--stop", std::string(257, 's')}, "--stop must be"},
      {{"complete", "x", "--logprobs", "21"}, "--logprobs"},
      {{"runs"}, "subcommand"},
      {{"runs", "show"}, "RUN_ID"},
      {{"strategies", "magic"}, "best_of_n"},
      {{"eval", "--data", "x"}, "--strategy"},
      {{"eval", "--data", "x", "--strategy", "greedy", "--out", "o", "--concurrency", "65"},
       "--concurrency"},
      {{"eval", "--data", "x", "--strategy", "greedy", "--out", "o", "--top-p", "0"},
       "--top-p must be"},
      {{"eval", "--data", "x", "--strategy", "greedy", "--out", "o", "--budget", "tokens=05"},
       "--budget: tokens"},
      {{"ask", "q", "--config", "/no/such.toml"}, "/no/such.toml"},
  };
  for (const Case& one : cases) {
    const Ran ran = program.run(one.arguments);
    std::string typed;
    for (const std::string& argument : one.arguments) {
      typed += argument + " ";
    }
    INFO(typed << "-> " << ran.err);
    CHECK(ran.code == (typed.find("/no/such") == std::string::npos ? 2 : 1));
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Contains(one.told));
    CHECK(ran.err.rfind("thinkd: ", 0) == 0);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  }
}

TEST_CASE("a fault that is not understood is refused, whatever the command") {
  Program program;
  for (const char* fault : {"", "journal", "journal:", "journal:x", "journal:-1", "store:1"}) {
    REQUIRE(setenv("THINKD_FAULT", fault, 1) == 0);
    const Ran ran = program.run({"strategies"});
    unsetenv("THINKD_FAULT");
    INFO(fault << ": " << ran.err);
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Contains("THINKD_FAULT: '" + std::string(fault) + "'"));
  }
}

TEST_CASE("help and version") {
  Program program;
  const Ran help = program.run({"--help"});
  CHECK(help.code == 0);
  for (const char* command : {"ask", "serve", "eval", "tokenize", "complete", "score", "resume",
                              "replay", "runs", "strategies", "verifiers", "models"}) {
    CHECK_THAT(help.out, Contains(command));
    const Ran one = program.run({command, "--help"});
    CHECK(one.code == 0);
    CHECK_FALSE(one.out.empty());
  }
  const Ran ask = program.run({"ask", "--help"});
  CHECK_THAT(ask.out, Contains("--strategy") && Contains("--budget") && Contains("--model"));
  const Ran version = program.run({"--version"});
  CHECK(version.code == 0);
  CHECK_THAT(version.out, Contains("thinkd 0.") && Contains("isa"));
}

TEST_CASE("models: shipped, missing, broken") {
  Program program;
  const Ran words = program.run({"ask", "q", "--no-trace", "--max-tokens", "4", "--seed", "1"});
  CHECK(words.code == 0);
  CHECK_THAT(words.err, Contains("countdown") && Contains("nothing else"));
  const Ran puzzle = program.run({"ask", "--numbers", "4,5,6,10", "--target", "24", "--no-trace",
                                  "--strategy", "best_of_n:n=4", "--seed", "1"});
  CHECK(puzzle.code == 0);
  CHECK(puzzle.err.empty());
  const Ran missing = program.run({"tokenize", "q", "--model", "absent"});
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, Contains("absent") && Contains("tiny"));
  REQUIRE(write_file(program.path("bad.gguf"), "GGUF then nothing").ok());
  const Ran broken = program.run({"score", "q", "--model", program.path("bad.gguf")});
  CHECK(broken.code == 1);
  CHECK_THAT(broken.err, Contains("bad.gguf"));

  const auto list = program.run({"models", "list", "--json"}).json();
  REQUIRE(list.size() == 2);
  CHECK(list[0]["name"] == "countdown");
  CHECK(list[1]["name"] == "tiny");
  CHECK(list[1]["architecture"] == "llama");
  const auto inspected = program.run({"models", "inspect", "tiny", "--json"}).json();
  CHECK(inspected["sha256"] == list[1]["sha256"]);
  CHECK(inspected["layers"] == 2);
  CHECK(inspected["runs"] == true);
  CHECK_THAT(program.run({"models", "pull"}).out, Contains("smollm2-135m"));
}

TEST_CASE("strategies and verifiers, with schemas") {
  Program program;
  const auto all = program.run({"strategies", "--json"}).json();
  std::vector<std::string> names;
  for (const auto& one : all) {
    CHECK(keys_of(one) == Texts{"name", "description", "source", "origin", "params"});
    names.push_back(one["name"]);
  }
  CHECK(names == Texts{"beam", "best_of_n", "greedy", "sample", "self_consistency"});
  const auto one = program.run({"strategies", "best_of_n", "--json"}).json();
  CHECK(one["params"]["type"] == "object");
  CHECK(one["params"]["properties"].contains("n"));
  CHECK_THAT(program.run({"strategies"}).out, Contains("best_of_n") && Contains("source:"));
  const auto verifiers = program.run({"verifiers", "--json"}).json();
  CHECK_FALSE(verifiers.empty());
  const std::string name = verifiers[0]["name"];
  CHECK(program.run({"verifiers", name, "--json"}).json() == verifiers[0]);
}

TEST_CASE("tokenize, complete and score agree") {
  Program program;
  const auto ids = program.think({"tokenize", "the cat", "--raw", "--json"}).json();
  CHECK(keys_of(ids) == Texts{"ids"});
  const Ran plain = program.think({"tokenize", "the cat", "--raw"});
  std::string joined;
  for (const auto& id : ids["ids"]) {
    joined += (joined.empty() ? "" : " ") + id.dump();
  }
  CHECK(plain.out == joined + "\n");

  const auto whole =
      program.think({"complete", "the cat", "--raw", "--tokens", "6", "--logprobs", "3", "--json"})
          .json();
  CHECK(keys_of(whole) == Texts{"prompt_ids", "prompt_logprobs", "ids", "text", "logprobs", "top"});
  CHECK(whole["prompt_ids"] == ids["ids"]);
  REQUIRE(whole["prompt_logprobs"].size() == ids["ids"].size());
  CHECK(whole["prompt_logprobs"][0].is_null());
  REQUIRE(whole["ids"].size() <= 6);
  REQUIRE(whole["logprobs"].size() == whole["ids"].size());
  REQUIRE(whole["top"].size() == whole["ids"].size());
  for (size_t i = 0; i < whole["ids"].size(); ++i) {
    REQUIRE(whole["top"][i].size() == 3);
    CHECK(whole["top"][i][0][0] == whole["ids"][i]);  // greedy: the likeliest was taken
    CHECK(whole["top"][i][0][1] == whole["logprobs"][i]);
    CHECK(whole["top"][i][0][1].get<double>() >= whole["top"][i][1][1].get<double>());
  }

  const auto scored = program.think({"score", "the cat", "--raw", "--json"}).json();
  CHECK(keys_of(scored) == Texts{"prompt_ids", "prompt_logprobs", "ids", "text", "logprobs"});
  CHECK(scored["prompt_logprobs"] == whole["prompt_logprobs"]);
  CHECK(scored["ids"].empty());

  // The continuation's log-probs are those of the longer text where its text reads back as its
  // tokens.
  const std::string text = "the cat" + whole["text"].get<std::string>();
  const auto longer = program.think({"score", text, "--raw", "--json"});
  if (longer.code == 0) {
    const auto again = longer.json();
    Texts expected;
    std::vector<nlohmann::ordered_json> all(ids["ids"].begin(), ids["ids"].end());
    all.insert(all.end(), whole["ids"].begin(), whole["ids"].end());
    if (again["prompt_ids"] == nlohmann::ordered_json(all)) {
      for (size_t i = 0; i < whole["ids"].size(); ++i) {
        CHECK(again["prompt_logprobs"][ids["ids"].size() + i] == whole["logprobs"][i]);
      }
    }
  }
}

TEST_CASE("templates and control tokens") {
  Program program;
  const auto chat = program.think({"tokenize", "hi", "--json"}).json()["ids"];
  CHECK(chat[0] == kTinyMessageStart);
  // Written by a user it is text; with --special it is the token.
  const auto text = program.think({"tokenize", "<|im_end|>", "--raw", "--json"}).json()["ids"];
  CHECK(text.size() > 1);
  const auto token =
      program.think({"tokenize", "<|im_end|>", "--raw", "--special", "--json"}).json()["ids"];
  CHECK(token == nlohmann::ordered_json::array({kTinyMessageEnd}));
  const auto marks = [](const nlohmann::ordered_json& ids) {
    return std::count(ids.begin(), ids.end(), nlohmann::ordered_json(kTinyMessageEnd));
  };
  CHECK(marks(program.think({"tokenize", "a<|im_end|>", "--json"}).json()["ids"]) == 1);
  CHECK(marks(program.think({"tokenize", "a<|im_end|>", "--special", "--json"}).json()["ids"]) ==
        2);

  REQUIRE(write_file(program.path("text"), "hi").ok());
  CHECK(program.think({"tokenize", "--file", program.path("text"), "--json"}).json()["ids"] ==
        chat);
}

TEST_CASE("a text past the context is refused with both numbers") {
  Program program;
  const Ran ran = program.think({"score", std::string(2000, 'x'), "--raw"});
  CHECK(ran.code == 3);
  CHECK_THAT(ran.err, Contains("512") && Contains("2000"));
}

TEST_CASE("a seed repeats a drawn completion; threads change nothing") {
  Program program;
  const Texts drawn = {"complete", "the cat", "--tokens", "12",      "--temperature", "1",
                       "--seed",   "5",       "--json",   "--model", "tiny"};
  const auto with = [&](const char* threads) {
    Texts all = drawn;
    all.insert(all.end(), {"--threads", threads});
    return program.run(all);
  };
  const Ran one = with("1");
  REQUIRE(one.code == 0);
  CHECK(one.out == with("2").out);
  CHECK(one.json()["seed"] == 5);
}

}  // namespace
}  // namespace thinkd::testing
