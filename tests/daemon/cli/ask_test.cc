// Questions, answers, signals and held stores.

#include "tests/daemon/cli/program.h"

#include <poll.h>

#include <chrono>
#include <functional>

#include "base/sha256.h"
#include "memory/store.h"
#include "tests/support/scorer_file.h"

namespace thinkd::testing {
namespace {

using Texts = std::vector<std::string>;

const Texts kAsk = {"ask",    "Two and two?", "--strategy", "best_of_n:n=4", "--task",
                    "number", "--max-tokens", "24",         "--seed",        "1"};

Texts with(Texts arguments, const Texts& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_CASE("an answer has the contract's shape") {
  Program program;
  const Ran ran = program.think(with(kAsk, {"--json"}));
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  const auto answer = ran.json();
  CHECK(keys_of(answer) == Texts{"answer", "confidence", "confidence_kind", "stopped_by",
                                 "candidates", "ledger", "seed", "run_id", "reproducible", "model",
                                 "strategy", "exact"});
  CHECK(keys_of(answer["ledger"]) ==
        Texts{"prompt_tokens", "generated_tokens", "discarded_tokens", "rebuilt_tokens",
              "verifier_tokens", "cached_tokens", "prefill_saved_tokens", "total_tokens",
              "verifier_calls", "longest_branch_tokens", "flops", "kv_byte_seconds", "seconds_wall",
              "seconds_waiting", "seconds_computing", "joules"});
  REQUIRE(answer["candidates"].size() == 4);
  CHECK(keys_of(answer["candidates"][0]) ==
        Texts{"answer", "text", "score", "verdict", "tokens", "branch"});
  CHECK(answer["seed"] == 1);
  CHECK(answer["strategy"]["name"] == "best_of_n");
  CHECK(answer["ledger"]["generated_tokens"].get<uint64_t>() > 0);
  CHECK(answer["model"]["name"] == "tiny");

  SECTION("again, and with other threads: the same but for what the contract excepts") {
    const Ran again = program.think(with(kAsk, {"--json"}));
    CHECK(stable_part(again.json()) == stable_part(answer));
    const Ran two = program.run(with(kAsk, {"--json", "--model", "tiny", "--threads", "2"}));
    CHECK(stable_part(two.json()) == stable_part(answer));
    CHECK(again.json()["run_id"] != answer["run_id"]);
  }
  SECTION("without a trace too, and then the store knows nothing of it") {
    const Ran quiet = program.think(with(kAsk, {"--json", "--no-trace"}));
    CHECK(stable_part(quiet.json()) == stable_part(answer));
    CHECK(program.run({"runs", "list", "--json"}).json().size() == 1);
  }
  SECTION("watched: standard error tells of each branch, the answer stays the same") {
    const Ran watched = program.think(with(kAsk, {"--json", "--watch"}));
    CHECK(stable_part(watched.json()) == stable_part(answer));
    for (const char* branch : {"0.0", "0.1", "0.2", "0.3"}) {
      CHECK_THAT(watched.err, Contains("  " + std::string(branch) + "  score "));
      CHECK_THAT(watched.err, Contains("  " + std::string(branch) + "  candidate"));
    }
    CHECK_THAT(watched.err, Contains("best so far: ") && Contains("tokens, max_tokens)"));
    CHECK(ran.err.empty());
  }
  SECTION("a scorer beside the model ranks; one of another model is refused") {
    const std::string model = program.path("store/models/tiny.gguf");
    const std::string scorer = program.path("store/models/tiny.scorer.gguf");
    const ScorerWeights weights = random_scorer(TinyLlama{}.width(), 4, 3, 0.3f);
    const Result<Sha256Digest> hash = sha256_file(model);
    REQUIRE(hash.ok());
    REQUIRE(write_file(scorer, scorer_file(weights, hex(*hash)).bytes()).ok());
    const auto scored = program.think(with(kAsk, {"--json"})).json();
    for (size_t i = 0; i < 4; ++i) {
      const double score = scored["candidates"][i]["score"];
      CHECK((score > 0 && score < 1));
      CHECK(scored["candidates"][i]["text"] == answer["candidates"][i]["text"]);
    }
    CHECK(program.run({"models", "list", "--json"}).json().size() == 2);  // with the shipped one
    REQUIRE(write_file(scorer, scorer_file(weights, std::string(64, 'e')).bytes()).ok());
    const Ran refused = program.think(kAsk);
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, Contains("tiny.scorer.gguf") && Contains(std::string(64, 'e')));
  }
  SECTION("for people") {
    const Ran shown = program.think(kAsk);
    CHECK(shown.code == 0);
    CHECK(shown.err.empty());  // no progress line where it is piped
    CHECK_THAT(shown.out, Contains("seed 1, run ") && Contains("4 candidates"));
  }
}

TEST_CASE("what the question is given reaches the run") {
  Program program;
  const auto braces = program.think({"ask", "{}", "--max-tokens", "1", "--json"}).json();
  const auto asked =
      program.run({"runs", "show", braces["run_id"].get<std::string>(), "--json"}).json();
  CHECK(asked["request"]["messages"][0]["content"] == "{}");
  const auto plain = program.think({"ask", "[1,2]", "--seed", "1", "--max-tokens", "4", "--json"});
  INFO(plain.err);
  REQUIRE(plain.code == 0);
  const auto budget = program
                          .think({"ask", "q", "--strategy", "self_consistency:n=8", "--budget",
                                  "tokens=20", "--seed", "1", "--json"})
                          .json();
  CHECK(budget["stopped_by"] == "tokens");
  CHECK(budget["ledger"]["generated_tokens"].get<uint64_t>() <= 20);
  const auto cut = program
                       .think({"ask", "q", "--strategy", "sample", "--stop", "e", "--stop", "[x]",
                               "--seed", "1", "--max-tokens", "200", "--json"})
                       .json();
  CHECK(cut["candidates"][0]["text"].get<std::string>().find('e') == std::string::npos);
  const std::string run_id = cut["run_id"];
  const auto record = program.run({"runs", "show", run_id, "--json"}).json();
  CHECK(record["request"]["stop"] == nlohmann::ordered_json({"e", "[x]"}));
}

TEST_CASE("a store that another process holds is 3, and its pid is named") {
  Program program;
  const auto held = memory::Store::open(program.store());
  REQUIRE(held.ok());
  for (const Texts& arguments : {Texts{"ask", "q", "--model", "tiny"}, Texts{"runs", "list"},
                                 Texts{"resume"}, Texts{"replay", "x"}, Texts{"serve"}}) {
    const Ran ran = program.run(arguments);
    INFO(arguments[0] << ": " << ran.err);
    CHECK(ran.code == 3);
    CHECK_THAT(ran.err, Contains(std::to_string(getpid())));
  }
  CHECK(program.think({"ask", "q", "--max-tokens", "2", "--no-trace"}).code == 0);
}

void wait_for(const std::function<bool()>& ready) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (!ready()) {
    REQUIRE(std::chrono::steady_clock::now() < until);
    poll(nullptr, 0, 5);
  }
}

TEST_CASE("the first signal ends a run with its best so far, exit 130") {
  Program program;
  const Texts arguments = {"ask",  "q",         "--strategy", "best_of_n:n=512", "--max-tokens",
                           "400",  "--seed",    "1",          "--json",          "--model",
                           "tiny", "--threads", "1"};
  const pid_t pid = program.start(arguments);
  wait_for([&] {
    // The log holds the request at first; more than that once branches have finished.
    std::error_code ignored;
    uintmax_t bytes = 0;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(program.store() + "/db", ignored)) {
      if (file.path().extension() == ".log") {
        bytes += std::filesystem::file_size(file.path(), ignored);
      }
    }
    return bytes > 2500;
  });
  kill(pid, SIGINT);
  const Ran ran = program.wait(pid);
  INFO(ran.err << ran.out);
  CHECK(ran.code == 130);
  const auto answer = ran.json();
  CHECK(answer["stopped_by"] == "cancelled");
  const auto runs = program.run({"runs", "list", "--json"}).json();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]["state"] == "cancelled");
}

}  // namespace
}  // namespace thinkd::testing
