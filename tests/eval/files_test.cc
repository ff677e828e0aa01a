// The folder's files: log, manifest, summary, page.

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "eval/log.h"
#include "eval/manifest.h"
#include "eval/membership.h"
#include "eval/published.h"
#include "eval/report.h"
#include "eval/summary.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::eval;

namespace {

Sample sample_of(const std::string& problem, const std::string& strategy, uint64_t sample,
                 Outcome outcome) {
  Sample out;
  out.problem_id = problem;
  out.strategy = strategy;
  out.sample = sample;
  out.outcome = outcome;
  out.text = "line\nbreak \"quoted\" \xff";
  out.stopped_by = "done";
  out.ledger.prompt_tokens = 10;
  out.ledger.generated_tokens = 5;
  out.ledger.verifier_tokens = 2;
  out.ledger.verifier_calls = 1;
  out.seed = 7;
  out.seconds = 0.5;
  return out;
}

Manifest manifest_of(std::vector<std::string> strategies, uint64_t samples) {
  Manifest out;
  out.data_name = "<b>data.jsonl";
  out.data_sha256 = "00";
  out.last_row = 3;
  out.problems = 3;
  out.task = "math";
  out.prompt_version = 1;
  out.strategies = std::move(strategies);
  out.samples = samples;
  out.budget.tokens = 100;
  out.sampling.temperature = 0.5;
  out.sampling.stop = {"\n\n"};
  out.seed = (uint64_t{1} << 52) + 1;
  out.model = {"toy", "abc", "F32", "0.1.0+1", "portable", "f32", "f32"};
  return out;
}

void append(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

}  // namespace

TEST_CASE("the log gives back what was added, once it is opened again") {
  ScratchFolder scratch;
  const std::string path = scratch.path("samples.jsonl");
  {
    const auto log = SampleLog::open(path);
    REQUIRE(log.ok());
    std::vector<std::jthread> threads;
    for (uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&log, thread] {
        for (uint64_t i = 0; i < 10; ++i) {
          if (!(*log)->add(sample_of("p", "greedy", thread * 10 + i, Outcome::wrong)).ok()) {
            return;
          }
        }
      });
    }
    threads.clear();
    const auto second = SampleLog::open(path);
    REQUIRE_FALSE(second.ok());
    CHECK(second.status().code() == Code::conflict);
    CHECK_THAT(second.status().message(), Contains("process " + std::to_string(getpid())));
  }
  const auto log = SampleLog::open(path);
  REQUIRE(log.ok());
  REQUIRE((*log)->found().size() == 40);
  Sample expected = sample_of("p", "greedy", (*log)->found()[3].sample, Outcome::wrong);
  CHECK(to_line((*log)->found()[3]) == to_line(expected));
}

TEST_CASE("a last line that is torn anywhere is cut off, an earlier bad line is an error") {
  const std::string first = to_line(sample_of("a", "greedy", 0, Outcome::correct));
  const std::string second = to_line(sample_of("b", "greedy", 0, Outcome::wrong));
  for (size_t kept = 0; kept < second.size(); kept += 7) {
    INFO("kept " << kept);
    ScratchFolder scratch;
    const std::string path = scratch.path("samples.jsonl");
    append(path, first + second.substr(0, kept));
    REQUIRE(read_samples(path).ok());
    CHECK(read_samples(path)->size() == 1);
    {
      const auto log = SampleLog::open(path);
      REQUIRE(log.ok());
      CHECK((*log)->found().size() == 1);
      REQUIRE((*log)->add(sample_of("b", "greedy", 0, Outcome::wrong)).ok());
    }
    CHECK(*read_file(path, 1 << 20) == first + second);
  }
  ScratchFolder scratch;
  append(scratch.path("zeros"), first + std::string(30, '\0') + "\n");
  CHECK(read_samples(scratch.path("zeros"))->size() == 1);
  append(scratch.path("bad"), first + "{\"problem_id\":3}\n" + second);
  CHECK(read_samples(scratch.path("bad")).status().code() == Code::corrupt);
  CHECK_THAT(SampleLog::open(scratch.path("bad")).status().message(), Contains("bad:2"));
  append(scratch.path("double"), first + first + second);
  CHECK_THAT(read_samples(scratch.path("double")).status().message(), Contains("twice"));
}

TEST_CASE("samples of another evaluation are refused by their line and name") {
  const Manifest manifest = manifest_of({"greedy"}, 2);
  const std::set<std::string_view> ids = {"a", "b", "c"};
  std::vector<Sample> samples = {sample_of("a", "greedy", 0, Outcome::correct),
                                 sample_of("b", "greedy", 1, Outcome::wrong)};
  CHECK(check_samples(samples, manifest).ok());
  CHECK(check_samples(samples, manifest, &ids).ok());
  const auto refused = [&](const Sample& third, const std::set<std::string_view>* known) {
    std::vector<Sample> more = samples;
    more.push_back(third);
    const Status status = check_samples(more, manifest, known);
    CHECK(status.code() == Code::corrupt);
    CHECK_THAT(status.message(), Contains("line 3"));
    return status.message();
  };
  CHECK_THAT(refused(sample_of("d", "greedy", 0, Outcome::correct), &ids), Contains("'d'"));
  for (const auto* known : {&ids, static_cast<const std::set<std::string_view>*>(nullptr)}) {
    CHECK_THAT(refused(sample_of("a", "sample", 0, Outcome::correct), known), Contains("'sample'"));
    CHECK_THAT(refused(sample_of("a", "greedy", 2, Outcome::correct), known),
               Contains("sample 2") && Contains("2 a problem"));
  }
  // Without the data: no more problems than the manifest counts.
  samples.push_back(sample_of("x", "greedy", 0, Outcome::correct));
  CHECK(check_samples(samples, manifest).ok());
  samples.push_back(sample_of("y", "greedy", 0, Outcome::correct));
  CHECK_THAT(check_samples(samples, manifest).message(), Contains("line 4") && Contains("'y'"));
}

TEST_CASE("the manifest reads back equal; an edited one is refused; differences are named") {
  ScratchFolder scratch;
  const Manifest manifest = manifest_of({"greedy", "sample:n=2"}, 2);
  REQUIRE(read_manifest(scratch.path()).ok());
  CHECK_FALSE(read_manifest(scratch.path())->has_value());
  REQUIRE(write_manifest(scratch.path(), manifest).ok());
  const auto back = read_manifest(scratch.path());
  INFO(back.status().message());
  REQUIRE(back.ok());
  CHECK(hash_of(**back) == hash_of(manifest));
  CHECK(same_manifest(**back, manifest).ok());

  Manifest other = manifest;
  other.model.isa = "avx2";
  other.budget.tokens = 200;
  CHECK(hash_of(other) != hash_of(manifest));
  const Status differs = same_manifest(manifest, other);
  CHECK(differs.code() == Code::conflict);
  CHECK_THAT(differs.message(), Contains("isa was \"portable\", is \"avx2\"") &&
                                    Contains("budget was {\"tokens\":100}"));
  CHECK(differs.message().find("seed") == std::string::npos);

  std::string text = *read_file(scratch.path("manifest.json"), 1 << 20);
  text.replace(text.find("\"math\""), 6, "\"text\"");
  REQUIRE(write_file(scratch.path("manifest.json"), text).ok());
  CHECK_THAT(read_manifest(scratch.path()).status().message(), Contains("was changed"));
}

TEST_CASE("the summary has the contract's shape and the right numbers") {
  const std::vector<Sample> samples = {
      sample_of("a", "greedy", 0, Outcome::correct),
      sample_of("a", "greedy", 1, Outcome::wrong),
      sample_of("b", "greedy", 0, Outcome::wrong),
      sample_of("b", "greedy", 1, Outcome::token_limit),
      sample_of("c", "greedy", 0, Outcome::gold_invalid),
      sample_of("a", "sample:temperature=0.5", 0, Outcome::correct),
  };
  const Summary summary =
      summarize(manifest_of({"greedy", "sample:temperature=0.5", "best_of_n"}, 2), samples);
  const auto json = nlohmann::json::parse(summary_text(summary));
  REQUIRE(json.at("rows").size() == 3);
  const auto& row = json.at("rows")[0];
  CHECK(row.at("strategy") == "greedy");
  CHECK(row.at("problems") == 3);
  CHECK(row.at("accuracy") == 0.25);
  CHECK(row.at("budget").at("tokens") == 100);
  CHECK(row.at("ci95")[0] == 0.0);
  CHECK(row.at("ci95")[1].get<double>() == Approx(0.25 + 1.959964 * 0.25));
  CHECK(row.at("pass_at").at("1") == 0.25);
  CHECK(row.at("pass_at").at("2") == 0.5);
  CHECK(row.at("outcomes").at("correct") == 1);
  CHECK(row.at("outcomes").at("token_limit") == 1);
  CHECK(row.at("outcomes").at("timeout") == 0);
  CHECK(row.at("total_tokens") == 5 * 17);
  CHECK(row.at("generated_tokens") == 25);
  CHECK(row.at("verifier_tokens") == 10);
  CHECK(row.at("verifier_calls") == 5);
  CHECK(row.at("seconds") == 2.5);
  const auto& one = json.at("rows")[1];
  CHECK(one.at("params").at("temperature") == 0.5);
  CHECK(one.at("ci95")[0].get<double>() == Approx(0.2065493));  // Wilson, 1 of 1
  CHECK(json.at("rows")[2].at("accuracy").is_null());

  const std::string csv = to_csv(summary);
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 4);
  CHECK_THAT(csv, Contains("\ngreedy,{},\"{\"\"tokens\"\":100}\",3,5,0.25,"));
  CHECK_THAT(to_table(summary), Contains("25.0"));
}

TEST_CASE("the page escapes what comes from data and refers to nothing outside") {
  const std::string evil = "greedy:x=\"<script>alert(1)</script>\"";
  const std::vector<Sample> samples = {sample_of("a", evil, 0, Outcome::correct),
                                       sample_of("b", evil, 0, Outcome::wrong)};
  const Summary summary = summarize(manifest_of({evil}, 1), samples);
  const std::string page = to_html(std::span(&summary, 1));
  CHECK_THAT(page,
             Contains("<svg") && Contains("&lt;script&gt;") && Contains("Unfinished: 2 of 3"));
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<b>data") == std::string::npos);
  CHECK(page.find("http://") == std::string::npos);
  CHECK(page.find("https://") == std::string::npos);
  const Summary empty = summarize(manifest_of({"greedy"}, 1), {});
  CHECK(to_html(std::span(&empty, 1)).find("<svg") == std::string::npos);
}

TEST_CASE("published figures stand beside the hard Game of 24 puzzles and nowhere else") {
  const auto data = read_file(THINKD_SOURCE_DIR "/tests/data/game24/24.csv", 1 << 20);
  REQUIRE(data.ok());
  Manifest hard = manifest_of({"greedy"}, 1);
  hard.data_sha256 = hex(sha256(*data));
  hard.first_row = 901;
  hard.last_row = 1000;
  hard.problems = 100;
  const Summary summary = summarize(hard, {});
  const std::string page = to_html(std::span(&summary, 1));
  for (const char* part : {"7.3 %", "4.0 %", "69 to 74 %", "74.5", "trained for this one task"}) {
    CHECK_THAT(page, Contains(part));
    CHECK_THAT(published_text(hard), Contains(part));
  }
  Manifest other = hard;
  other.first_row = 900;
  CHECK(published_for(other) == nullptr);
  other = hard;
  other.problems = 50;
  CHECK(published_for(other) == nullptr);
  other = hard;
  other.data_sha256[0] = '0';
  CHECK(published_text(other).empty());
}
