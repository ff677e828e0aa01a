// Whole evaluations on the toy engine: order and concurrency do not matter, a killed one goes on
// where it stopped, another manifest is refused.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/file.h"
#include "eval/command.h"
#include "eval/log.h"
#include "tests/search/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::eval;
using namespace thinkd::testing;

namespace {

constexpr const char* kFolderVariable = "THINKD_EVAL_TEST_FOLDER";
constexpr const char* kKillVariable = "THINKD_EVAL_TEST_KILL_AT";

// Answers are numbers of ones and twos, so some are right.
ToyOptions digits() {
  ToyOptions options;
  options.depth = 3;
  options.alphabet = "12";
  options.seed = 11;
  return options;
}

ModelIdentity toy_identity() { return {"toy", "abc", "F32", "build", "portable", "f32", "f32"}; }

std::string write_data(const ScratchFolder& scratch) {
  std::ofstream out(scratch.path("data.jsonl"));
  const char* answers[] = {"1", "2", "12", "21", "11", "x y z"};
  for (int i = 0; i < 6; ++i) {
    out << R"({"id":"p)" << i << R"(","question":"Which number, case )" << i << R"(?","answer":")"
        << answers[i] << "\"}\n";
  }
  return scratch.path("data.jsonl");
}

EvalOptions options_of(const std::string& data, const std::string& out) {
  EvalOptions options;
  options.data = data;
  options.task = "number";
  options.out = out;
  options.strategies = {"greedy", "sample", "self_consistency:n=3"};
  options.samples = 2;
  options.seed = 7;
  return options;
}

Result<Summary> evaluate(const EvalOptions& options, const ProgressCallback& progress = nullptr,
                         const std::stop_token& stop = {}) {
  Bench bench({}, digits());
  search::Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  return run(options, runs, toy_identity(), progress, stop);
}

// All that does not depend on clock or cache, by unit.
std::map<std::string, std::string> results(const std::string& folder) {
  const auto samples = read_samples(folder + "/samples.jsonl");
  INFO(samples.status().message());
  REQUIRE(samples.ok());
  std::map<std::string, std::string> out;
  for (Sample sample : *samples) {
    sample.seconds = 0;
    sample.ledger.kv_byte_seconds = 0;
    sample.ledger.seconds_wall = 0;
    sample.ledger.seconds_waiting = 0;
    sample.ledger.seconds_computing = 0;
    sample.ledger.cached_tokens = 0;
    sample.ledger.prefill_saved_tokens = 0;
    sample.ledger.rebuilt_tokens = 0;
    sample.ledger.joules.reset();
    out[sample.problem_id + '|' + sample.strategy + '|' + std::to_string(sample.sample)] =
        to_line(sample);
  }
  CHECK(out.size() == samples->size());
  return out;
}

// Runs this binary again as the victim, which kills itself when so many units are done.
void run_victim(const std::string& folder, int kill_at) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFolderVariable, folder.c_str(), 1);
    setenv(kKillVariable, std::to_string(kill_at).c_str(), 1);
    execl("/proc/self/exe", "run", "victim", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

}  // namespace

// Hidden: only the test below starts it, in a process of its own.
TEST_CASE("victim", "[.]") {
  const char* folder = std::getenv(kFolderVariable);
  const char* kill_at = std::getenv(kKillVariable);
  REQUIRE(folder != nullptr);
  REQUIRE(kill_at != nullptr);
  const std::string count = kill_at;
  const auto progress = [&](const Progress& now) {
    if (std::to_string(now.done) == count) {
      kill(getpid(), SIGKILL);
    }
  };
  const std::string root = folder;
  const auto summary = evaluate(options_of(root + "/data.jsonl", root + "/out"), progress);
  FAIL("it lived");
}

TEST_CASE("concurrency changes no token, answer or bill") {
  ScratchFolder scratch;
  const std::string data = write_data(scratch);
  EvalOptions options = options_of(data, scratch.path("one"));
  options.concurrency = 1;
  const auto one = evaluate(options);
  INFO(one.status().message());
  REQUIRE(one.ok());
  options.out = scratch.path("eight");
  options.concurrency = 8;
  const auto eight = evaluate(options);
  REQUIRE(eight.ok());
  CHECK(results(scratch.path("one")) == results(scratch.path("eight")));
  CHECK(results(scratch.path("one")).size() == 36);
  CHECK(hash_of(one->manifest) == hash_of(eight->manifest));

  // The stream is (problem, sample): one plain sample differs between samples of a problem, and
  // greedy does not.
  const auto lines = read_samples(scratch.path("one/samples.jsonl"));
  std::map<std::string, std::map<uint64_t, std::string>> greedy;
  std::map<std::string, std::map<uint64_t, std::string>> sampled;
  for (const Sample& sample : *lines) {
    if (sample.strategy == "greedy") {
      greedy[sample.problem_id][sample.sample] = sample.text;
    } else if (sample.strategy == "sample") {
      sampled[sample.problem_id][sample.sample] = sample.text;
    }
  }
  bool differs = false;
  for (const auto& [id, texts] : greedy) {
    CHECK(texts.at(0) == texts.at(1));
    differs = differs || sampled[id].at(0) != sampled[id].at(1);
  }
  CHECK(differs);

  // The summary counts what the log says; p5's reference is no number.
  for (const SummaryRow& row : one->rows) {
    INFO(row.strategy);
    CHECK(row.samples == 12);
    CHECK(row.problems == 6);
    CHECK(row.outcomes[static_cast<size_t>(Outcome::gold_invalid)] == 2);
    REQUIRE(row.accuracy);
    const double right = row.outcomes[static_cast<size_t>(Outcome::correct)];
    CHECK(*row.accuracy == Approx(right / 10));
    CHECK(row.pass_at.contains(2));
  }
  for (const char* file : {"manifest.json", "summary.json", "summary.csv", "report.html"}) {
    INFO(file);
    CHECK(read_file(scratch.path(std::string("one/") + file), 1 << 20).ok());
  }
}

TEST_CASE("killed half-way and run again: nothing repeated, everything equal") {
  ScratchFolder whole;
  REQUIRE(evaluate(options_of(write_data(whole), whole.path("out"))).ok());
  const auto expected = results(whole.path("out"));
  for (const int kill_at : {1, 13, 30}) {
    INFO("killed after " << kill_at);
    ScratchFolder scratch;
    const std::string data = write_data(scratch);
    run_victim(scratch.path(), kill_at);
    const std::string log = scratch.path("out/samples.jsonl");
    const std::string before = *read_file(log, 1 << 20);
    const size_t found = read_samples(log)->size();
    CHECK(found >= static_cast<size_t>(kill_at));
    CHECK(found < 36);
    std::ofstream(log, std::ios::app | std::ios::binary) << "{\"problem_id\":\"p0\",\"strat";

    EvalOptions options = options_of(data, scratch.path("out"));
    options.seed.reset();  // the folder's own
    const auto planned = plan(options, toy_identity());
    REQUIRE(planned.ok());
    CHECK(planned->seed == 7);
    CHECK(planned->missing == 36 - found);
    uint64_t calls = 0;
    uint64_t first_done = 0;
    const auto summary = evaluate(
        options, [&](const Progress& now) { first_done = calls++ == 0 ? now.done : first_done; });
    INFO(summary.status().message());
    REQUIRE(summary.ok());
    CHECK(first_done == found);
    CHECK(calls == 1 + 36 - found);
    CHECK(results(scratch.path("out")) == expected);
    CHECK(read_file(log, 1 << 20)->starts_with(before.substr(0, before.rfind('\n') + 1)));

    // Once more: nothing is missing, nothing is written.
    const std::string after = *read_file(log, 1 << 20);
    REQUIRE(evaluate(options).ok());
    CHECK(*read_file(log, 1 << 20) == after);
  }
}

TEST_CASE("a stop ends it between units, and the same command finishes") {
  ScratchFolder scratch;
  const EvalOptions options = options_of(write_data(scratch), scratch.path("out"));
  std::stop_source stop;
  const auto stopped = evaluate(
      options,
      [&](const Progress& now) {
        if (now.done == 5) {
          stop.request_stop();
        }
      },
      stop.get_token());
  REQUIRE_FALSE(stopped.ok());
  CHECK(stopped.status().code() == Code::cancelled);
  const size_t found = results(scratch.path("out")).size();
  CHECK(found >= 5);
  CHECK(found < 36);
  for (const auto& [unit, line] : results(scratch.path("out"))) {
    CHECK(line.find("\"stopped_by\":\"cancelled\"") == std::string::npos);
  }
  REQUIRE(evaluate(options).ok());
  CHECK(results(scratch.path("out")).size() == 36);
}

TEST_CASE("another manifest is refused by what differs; a dry run writes nothing") {
  ScratchFolder scratch;
  EvalOptions options = options_of(write_data(scratch), scratch.path("out"));
  options.limit = 2;
  options.samples = 1;
  const auto planned = plan(options, toy_identity());
  REQUIRE(planned.ok());
  CHECK(planned->units == 6);
  CHECK(planned->missing == 6);
  CHECK(planned->manifest_hash.size() == 64);
  CHECK_FALSE(read_file(scratch.path("out/manifest.json"), 1 << 20).ok());
  REQUIRE(evaluate(options).ok());
  CHECK(plan(options, toy_identity())->missing == 0);

  ModelIdentity other = toy_identity();
  other.build = "later";
  const auto build = plan(options, other);
  CHECK(build.status().code() == Code::conflict);
  CHECK_THAT(build.status().message(), Contains("build was \"build\", is \"later\""));
  EvalOptions changed = options;
  changed.samples = 2;
  changed.range = "1-2";
  changed.limit.reset();
  const auto samples = evaluate(changed);
  CHECK(samples.status().code() == Code::conflict);
  CHECK_THAT(samples.status().message(), Contains("samples was 1, is 2"));
  changed = options;
  changed.seed = 8;
  CHECK_THAT(evaluate(changed).status().message(), Contains("seed was 7, is 8"));

  // The page of two folders shows both; a folder without a manifest is named.
  EvalOptions second = options;
  second.out = scratch.path("second");
  REQUIRE(evaluate(second).ok());
  const std::vector<std::string> folders = {scratch.path("out"), scratch.path("second")};
  REQUIRE(report(folders).ok());
  CHECK(report(folders)->size() == 2);
  const std::vector<std::string> none = {scratch.path()};
  CHECK_THAT(report(none).status().message(), Contains("manifest.json"));
}

TEST_CASE("a folder that another process holds is refused by its pid; foreign samples by name") {
  ScratchFolder scratch;
  EvalOptions options = options_of(write_data(scratch), scratch.path("out"));
  options.strategies = {"greedy"};
  options.samples = 1;
  REQUIRE(evaluate(options).ok());
  const std::string log = scratch.path("out/samples.jsonl");
  const std::string before = *read_file(log, 1 << 20);
  {
    const auto held = SampleLog::open(log);
    REQUIRE(held.ok());
    const Status refused = evaluate(options).status();
    CHECK(refused.code() == Code::limit);  // exit code 3
    CHECK_THAT(refused.message(), Contains("process " + std::to_string(getpid())));
  }
  CHECK(evaluate(options).ok());
  for (const auto& [what, with] :
       std::map<std::string, std::string>{{"\"problem_id\":\"p0\"", "\"problem_id\":\"other\""},
                                          {"\"strategy\":\"greedy\"", "\"strategy\":\"sample\""}}) {
    INFO(with);
    std::string changed = before;
    changed.replace(changed.find(what), what.size(), with);
    REQUIRE(write_file(log, changed).ok());
    const Status status = evaluate(options).status();
    CHECK(status.code() == Code::corrupt);
    CHECK_THAT(status.message(),
               Contains("samples.jsonl: line ") && Contains("is not one of this evaluation"));
    CHECK(plan(options, toy_identity()).status().code() == Code::corrupt);
    CHECK(*read_file(log, 1 << 20) == changed);
  }
  // The report has no data: an extra problem shows by their number.
  std::string extra = before.substr(0, before.find('\n') + 1);
  extra.insert(extra.find(":\"p") + 2, "other ");
  REQUIRE(write_file(log, before + extra).ok());
  CHECK_THAT(report(std::vector<std::string>{scratch.path("out")}).status().message(),
             Contains("line 7") && Contains("the 6 of this evaluation"));
}

TEST_CASE("options that make no sense are refused before a folder is made") {
  ScratchFolder scratch;
  const EvalOptions good = options_of(write_data(scratch), scratch.path("out"));
  const auto refused = [&](auto change) {
    EvalOptions options = good;
    change(options);
    const auto summary = evaluate(options);
    REQUIRE_FALSE(summary.ok());
    CHECK_FALSE(read_file(scratch.path("out/manifest.json"), 1 << 20).ok());
    return summary.status().message();
  };
  CHECK_THAT(refused([](auto& o) { o.strategies = {}; }), Contains("strategy"));
  CHECK_THAT(refused([](auto& o) { o.strategies = {"greedy", "greedy"}; }), Contains("twice"));
  CHECK_THAT(refused([](auto& o) { o.samples = 5000; }), Contains("5000") && Contains("4096"));
  CHECK_THAT(refused([](auto& o) { o.concurrency = 0; }), Contains("concurrency"));
  CHECK_THAT(refused([](auto& o) { o.limit = 0; }), Contains("limit"));
  CHECK_THAT(refused([](auto& o) { o.limit = 1, o.range = "1-2"; }), Contains("exclude"));
  CHECK_THAT(refused([](auto& o) { o.range = "50-60"; }), Contains("rows 1 to 6"));
  CHECK_THAT(refused([](auto& o) { o.data += ".none"; }), Contains(".none"));
  CHECK_THAT(refused([](auto& o) { o.data = "/dev/zero"; }), Contains("not a regular file"));
}

TEST_CASE("texts cut by a limit count apart; a run that fails is an outcome") {
  ScratchFolder scratch;
  EvalOptions options = options_of(write_data(scratch), scratch.path("cut"));
  options.strategies = {"greedy"};
  options.samples = 1;
  options.range = "1-5";
  options.sampling.max_tokens = 1;
  const auto cut = evaluate(options);
  REQUIRE(cut.ok());
  uint64_t cuts = 0;
  const auto samples = read_samples(scratch.path("cut/samples.jsonl"));
  REQUIRE(samples.ok());
  CHECK(samples->size() == 5);
  for (const Sample& sample : *samples) {
    INFO(sample.problem_id << ": '" << sample.text << "'");
    if (sample.text.empty()) {  // the end token came first
      CHECK(sample.outcome == Outcome::no_answer);
    } else if (sample.outcome != Outcome::correct) {
      CHECK(sample.outcome == Outcome::token_limit);
      ++cuts;
    }
  }
  CHECK(cuts > 0);
  CHECK(cut->rows[0].outcomes[static_cast<size_t>(Outcome::token_limit)] == cuts);

  options.out = scratch.path("long");
  options.system = std::string(5000, 'x');  // past the toy's context of 4,096
  const auto long_prompt = evaluate(options);
  INFO(long_prompt.status().message());
  REQUIRE(long_prompt.ok());
  CHECK(long_prompt->rows[0].outcomes[static_cast<size_t>(Outcome::error)] == 5);
  CHECK_THAT(read_samples(scratch.path("long/samples.jsonl"))->front().reason, Contains("4096"));

  options.out = scratch.path("unknown");
  options.strategies = {"greedy:colour=red"};
  CHECK_THAT(evaluate(options).status().message(), Contains("colour"));
}
