// The verb host on the toy model: the bill in closed form, equal seeds, budgets, stops at every
// event, resume and replay from a log kept in memory. Everything below the model runner is the real
// thing.

#include <algorithm>
#include <map>
#include <set>

#include "tests/search/host_run.h"
#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

namespace {

constexpr const char* kWalk = "walk:n=3";

struct NoParams {
  static sdk::Fields<NoParams> fields() { return {}; }
};

// Draws two tokens on one branch and puts them behind the prompt of another.
void graft(sdk::Host& host, const sdk::Problem& problem, const NoParams&) {
  std::vector<sdk::Branch> pair = host.fork(host.open(problem.messages), 2);
  const uint32_t prompt = pair.front().length();
  sdk::ExtendOptions step = problem.greedy_options();
  step.max_tokens = 2;
  host.extend(pair.front(), step);
  host.splice(pair.back(), pair.front(), {.first = prompt});
  host.emit(sdk::Candidate{pair.front()});
}

// Asks for log-probs and for more text, has a branch judged while both are under way, and only then
// waits; written against the records, since no verb of Host returns before it is done.
thinkd_status overlap(const void*, const thinkd_host* table, const uint8_t* bytes, size_t size) {
  sdk::Session session(*table);
  const sdk::RunRequest request = sdk::detail::read_request(bytes, size);
  const sdk::BranchId root = session.call(sdk::Open{.messages = request.messages}).branch;
  const std::vector<sdk::BranchId> pair = session.call(sdk::Fork{root, 2}).branches;
  sdk::Extend step;
  step.branches = {pair[0]};
  step.max_tokens = 2;
  session.call(step);
  const uint64_t logprobs = session.submit(
      sdk::Logprobs{.branches = pair, .source = sdk::Source::text, .text = "ab", .top_k = 2});
  step.branches = {pair[1]};
  const uint64_t more = session.submit(step);
  session.call(sdk::Verify{.branches = {pair[0]}});
  const double told = session.wait_any<sdk::Logprobs>(std::span(&logprobs, 1))
                          .value.branches.at(1)
                          .tokens.at(1)
                          .logprob;
  session.call(sdk::Verify{.branches = {pair[0]}});
  session.wait_any<sdk::Extend>(std::span(&more, 1));
  session.submit(sdk::Emit{.event = sdk::Event::candidate, .branch = pair[1], .score = told});
  return THINKD_OK;
}

}  // namespace

TEST_CASE("greedy: the bill in closed form") {
  Bench bench;
  const Request request = request_of("greedy");
  const HostRun run = run_host(bench, request);
  REQUIRE(run.outcome.status.ok());
  const Answer& answer = run.outcome.answer;
  REQUIRE(answer.candidates.size() == 1);
  const Ledger& ledger = answer.ledger;
  const uint64_t generated = answer.candidates.front().tokens;
  CHECK(generated > 0);
  CHECK(ledger.generated_tokens == generated);
  CHECK(ledger.longest_branch_tokens == generated);
  CHECK(ledger.discarded_tokens == 0);
  CHECK(ledger.verifier_tokens == 0);
  uint64_t flops = 0;
  for (uint32_t row = 1; row <= ledger.prompt_tokens + generated; ++row) {
    flops += bench.engine->row_flops(row);
  }
  CHECK(ledger.flops == flops);
  CHECK(answer.stopped_by == "done");
  CHECK(answer.reproducible_from_seed);
  CHECK(bench.engine->status().pages_used == 0);
}

TEST_CASE("best_of_n: each token is billed once, whoever shares it") {
  Bench bench;
  const HostRun run = run_host(bench, request_of("best_of_n:n=6"));
  REQUIRE(run.outcome.status.ok());
  const Answer& answer = run.outcome.answer;
  REQUIRE(answer.candidates.size() == 6);
  uint64_t generated = 0;
  uint64_t flops = 0;
  uint64_t longest = 0;
  const uint64_t prompt = answer.ledger.prompt_tokens;
  for (uint32_t row = 1; row <= prompt; ++row) {
    flops += bench.engine->row_flops(row);
  }
  for (const Candidate& candidate : answer.candidates) {
    generated += candidate.tokens;
    longest = std::max(longest, candidate.tokens);
    for (uint64_t i = 1; i <= candidate.tokens; ++i) {
      flops += bench.engine->row_flops(static_cast<uint32_t>(prompt + i));
    }
  }
  CHECK(answer.ledger.generated_tokens == generated);
  CHECK(answer.ledger.longest_branch_tokens == longest);
  CHECK(answer.ledger.flops == flops);
  CHECK(answer.ledger.verifier_calls == 6);
  CHECK(answer.ledger.discarded_tokens == 0);
}

TEST_CASE("a vote of one is a plain sample") {
  Bench bench;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const HostRun one = run_host(bench, request_of("sample", seed));
    const HostRun vote = run_host(bench, request_of("self_consistency:n=1", seed));
    INFO("seed " << seed);
    CHECK(one.outcome.answer.candidates.front().text ==
          vote.outcome.answer.candidates.front().text);
  }
}

TEST_CASE("samples follow the model's own law") {
  ToyOptions toy = toy_options();
  toy.depth = 3;
  Bench bench({}, toy);
  Request request = request_of("sample");
  request.sampling.temperature = 1.0;
  request.sampling.top_p = 1.0;
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    request.seed = seed;
    texts.insert(run_host(bench, request).outcome.answer.candidates.front().text);
  }
  CHECK(texts.size() > 5);
}

TEST_CASE("one seed, one answer: whatever the steps look like") {
  Bench bench;
  engine::EngineOptions narrow;
  narrow.step_rows = 8;
  narrow.prefix_cache = false;
  Bench other(narrow);
  for (const char* strategy : {"best_of_n:n=5", kWalk}) {
    const std::string first = stable(run_host(bench, request_of(strategy)).outcome.answer);
    CHECK(first == stable(run_host(bench, request_of(strategy)).outcome.answer));
    CHECK(first == stable(run_host(other, request_of(strategy)).outcome.answer));
    CHECK(first != stable(run_host(bench, request_of(strategy, 8)).outcome.answer));
  }
}

TEST_CASE("the token budget cuts at one place") {
  Bench bench;
  Request request = request_of("best_of_n:n=6");
  const uint64_t all = run_host(bench, request).outcome.answer.ledger.generated_tokens;
  for (uint64_t tokens = 1; tokens <= all + 1; ++tokens) {
    request.budget.tokens = tokens;
    const HostRun run = run_host(bench, request);
    REQUIRE(run.outcome.status.ok());
    const Answer& answer = run.outcome.answer;
    INFO("tokens " << tokens << " of " << all);
    CHECK(answer.ledger.generated_tokens == std::min(tokens, all));
    CHECK(answer.stopped_by == (tokens < all ? "tokens" : "done"));
    CHECK(stable(answer) == stable(run_host(bench, request).outcome.answer));
  }
}

// The oracle: what a branch has generated at the stop is the beginning of what it writes unstopped.
TEST_CASE("a run that ends before its first candidate answers with what there is") {
  Bench bench;
  for (const char* strategy : {"greedy", "sample", "best_of_n:n=6"}) {
    Request request = request_of(strategy);
    std::map<std::string, std::string> whole;
    const Answer full = run_host(bench, request).outcome.answer;
    uint64_t shortest = UINT64_MAX;
    for (const Candidate& candidate : full.candidates) {
      whole[candidate.branch] = candidate.text;
      shortest = std::min(shortest, candidate.tokens);
    }
    for (uint64_t tokens = 1; tokens < shortest; ++tokens) {
      request.budget.tokens = tokens;
      const HostRun run = run_host(bench, request);
      INFO(strategy << ", seed 7, tokens " << tokens << " of " << full.ledger.generated_tokens);
      REQUIRE(run.outcome.status.ok());
      const Answer& answer = run.outcome.answer;
      CHECK(answer.stopped_by == "tokens");
      CHECK(answer.answer.has_value());
      CHECK(answer.ledger.discarded_tokens == 0);
      uint64_t kept = 0;
      std::string before;
      for (const Candidate& candidate : answer.candidates) {
        kept += candidate.tokens;
        CHECK(candidate.tokens > 0);
        CHECK_FALSE(candidate.score);
        CHECK_FALSE(candidate.verdict);
        CHECK(before < candidate.branch);
        CHECK(whole.at(candidate.branch).starts_with(candidate.text));
        before = candidate.branch;
      }
      CHECK(kept == tokens);
      for (size_t entries = 0; entries <= run.log.size(); ++entries) {
        HostOptions options;
        options.log.assign(run.log.begin(), run.log.begin() + static_cast<std::ptrdiff_t>(entries));
        CHECK(stable(run_host(bench, request, options).outcome.answer) == stable(answer));
      }
      HostOptions again;
      again.log = run.log;
      again.mode = Journal::Mode::replay;
      const HostRun replay = run_host(bench, request, again);
      CHECK_FALSE(replay.difference);
      CHECK(stable(replay.outcome.answer) == stable(answer));
    }
  }
}

TEST_CASE(
    "a finished sample that nothing may judge is still an answer, within the samples allowed") {
  Bench bench;
  Request request = request_of("best_of_n:n=6");
  request.budget.verifier_calls = 0;
  request.budget.samples = 4;
  const Answer answer = run_host(bench, request).outcome.answer;
  CHECK(answer.stopped_by == "verifier_calls");
  CHECK(answer.candidates.size() == 4);
  CHECK(answer.ledger.verifier_calls == 0);
  CHECK(answer.answer.has_value());
}

TEST_CASE("what is spliced in is billed as if it were computed again") {
  Bench bench;
  const sdk::StrategyInfo info = sdk::strategy<NoParams>("graft", "one splice", "this test", graft);
  const thinkd_strategy entry = sdk::entry(info);
  REQUIRE(bench.registry.add(entry, "test").ok());
  const HostRun run = run_host(bench, request_of("graft"));
  REQUIRE(run.outcome.status.ok());
  const Ledger& ledger = run.outcome.answer.ledger;
  const uint64_t prompt = run.events.front().tokens;
  CHECK(ledger.generated_tokens == 2);
  CHECK(ledger.prompt_tokens == prompt + 2);
  uint64_t flops = 0;
  for (uint32_t row = 1; row <= prompt + 2; ++row) {
    // The two behind the prompt once where they are drawn, once where they are spliced in.
    flops += bench.engine->row_flops(row) * (row > prompt ? 2 : 1);
  }
  CHECK(ledger.flops == flops);
  CHECK(run.outcome.answer.approximate == std::vector<std::string>{"splice"});
}

TEST_CASE("as many samples as the limit allows live beside their root") {
  Bench bench;
  Request request = request_of("best_of_n:n=" + std::to_string(limits::kSamples));
  request.budget.tokens = 1;
  const HostRun run = run_host(bench, request);
  REQUIRE(run.outcome.status.ok());
  CHECK(run.outcome.answer.stopped_by == "tokens");
  const auto opened = std::count_if(run.events.begin(), run.events.end(), [](const Event& event) {
    return event.kind == EventKind::opened;
  });
  CHECK(opened == limits::kBranches);
}

TEST_CASE("other budgets end a run where they are full") {
  Bench bench;
  Request request = request_of("best_of_n:n=6");
  request.budget.samples = 2;
  Answer answer = run_host(bench, request).outcome.answer;
  CHECK(answer.candidates.size() == 2);
  CHECK(answer.stopped_by == "samples");
  CHECK(answer.reproducible_from_seed);

  request.budget = {};
  request.budget.verifier_calls = 3;
  answer = run_host(bench, request).outcome.answer;
  CHECK(answer.candidates.size() == 3);
  CHECK(answer.ledger.verifier_calls == 3);
  CHECK(answer.stopped_by == "verifier_calls");

  request.budget = {};
  request.budget.longest = 1;
  answer = run_host(bench, request).outcome.answer;
  CHECK(answer.candidates.size() == 6);
  CHECK(answer.ledger.longest_branch_tokens == 1);

  request = request_of("greedy");
  const uint64_t flops = run_host(bench, request).outcome.answer.ledger.flops;
  request.budget.flops = flops - 1;
  answer = run_host(bench, request).outcome.answer;
  CHECK(answer.ledger.flops < flops);
  CHECK(answer.stopped_by == "flops");
}

TEST_CASE("a prompt past the context is refused with both numbers") {
  ToyOptions toy = toy_options();
  toy.context = 16;
  Bench bench({}, toy);
  const HostRun run = run_host(bench, request_of("greedy"));
  CHECK(run.outcome.status.code() == Code::limit);
  CHECK_THAT(run.outcome.status.message(), Contains("the context holds 16"));
}

TEST_CASE("cancel at every event: nothing stays, and the trace replays") {
  Bench bench;
  const std::string strategy = GENERATE(as<std::string>(), kWalk, "best_of_n:n=4", "greedy");
  const Request request = request_of(strategy);
  const size_t events = run_host(bench, request).events.size();
  REQUIRE(events > (strategy == kWalk ? 20 : 4));
  for (uint64_t at = 0; at + 1 < events; ++at) {
    HostOptions options;
    options.cancel_at_event = at;
    const HostRun run = run_host(bench, request, options);
    INFO(strategy << " cancelled at event " << at << " of " << events);
    REQUIRE(run.outcome.status.ok());
    CHECK(run.outcome.answer.candidates.empty() ==
          (run.outcome.answer.ledger.generated_tokens == 0));
    CHECK(bench.engine->status().pages_used == 0);
    const Answer& answer = run.outcome.answer;
    CHECK((answer.stopped_by == "cancelled" || answer.stopped_by == "done"));
    CHECK(answer.reproducible_from_seed == (answer.stopped_by == "done"));

    HostOptions again;
    again.log = run.log;
    again.mode = Journal::Mode::replay;
    const HostRun replay = run_host(bench, request, again);
    CHECK_FALSE(replay.difference);
    REQUIRE(replay.outcome.status.ok());
    CHECK(stable(replay.outcome.answer) == stable(answer));
    again.mode = Journal::Mode::record;
    const HostRun resumed = run_host(bench, request, again);
    REQUIRE(resumed.outcome.status.ok());
    CHECK(stable(resumed.outcome.answer) == stable(answer));
    CHECK(resumed.log == run.log);
  }
}

TEST_CASE(
    "resume from every prefix of the log: the same answer, no finished branch computed again") {
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  Bench bench(cold);
  for (const char* strategy : {kWalk, "best_of_n:n=4", "walk:n=2,clock=true"}) {
    const Request request = request_of(strategy);
    const HostRun whole = run_host(bench, request);
    REQUIRE(whole.outcome.status.ok());
    uint64_t rows_before = UINT64_MAX;
    for (size_t kept = 0; kept <= whole.log.size(); ++kept) {
      HostOptions options;
      options.log.assign(whole.log.begin(), whole.log.begin() + static_cast<std::ptrdiff_t>(kept));
      const uint64_t start = bench.engine->status().rows;
      const HostRun resumed = run_host(bench, request, options);
      const uint64_t rows = bench.engine->status().rows - start;
      INFO(strategy << ": resumed with " << kept << " of " << whole.log.size() << " entries");
      REQUIRE(resumed.outcome.status.ok());
      CHECK(stable(resumed.outcome.answer) == stable(whole.outcome.answer));
      // A recorded branch of best_of_n needs no row at all; in a walk its last block is rebuilt
      // where it is scored, so only the end can be told.
      const bool samples = std::string_view(strategy).starts_with("best_of_n");
      CHECK((!samples || rows <= rows_before));
      rows_before = rows;
      if (std::string_view(strategy) != "walk:n=2,clock=true") {
        CHECK(resumed.log == whole.log);
      }
    }
    CHECK(rows_before == 0);
  }
}

// Between the two the log-probs are in hand: an entry of the journal comes in where the engine
// tells of it, on resume as at first.
TEST_CASE("log-probs under way while a branch is judged: resume and replay keep the order") {
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  Bench bench(cold);
  const sdk::StrategyInfo info =
      sdk::strategy<NoParams>("overlap", "verbs under way", "this test", nullptr);
  thinkd_strategy entry = sdk::entry(info);
  entry.run = &overlap;
  REQUIRE(bench.registry.add(entry, "test").ok());
  const Request request = request_of("overlap");
  const HostRun whole = run_host(bench, request);
  REQUIRE(whole.outcome.status.ok());
  REQUIRE(whole.outcome.answer.candidates.size() == 1);
  std::vector<uint16_t> kinds;
  for (const std::string& bytes : whole.log) {
    kinds.push_back(decode_entry(bytes)->kind);
  }
  const auto verb = [](sdk::Verb each) { return static_cast<uint16_t>(each); };
  CHECK(kinds == std::vector<uint16_t>{verb(sdk::Verb::open), verb(sdk::Verb::extend),
                                       verb(sdk::Verb::verify), verb(sdk::Verb::logprobs),
                                       verb(sdk::Verb::logprobs), verb(sdk::Verb::verify),
                                       verb(sdk::Verb::extend)});
  for (size_t kept = 0; kept <= whole.log.size(); ++kept) {
    INFO("resumed with " << kept << " of " << whole.log.size() << " entries");
    HostOptions options;
    options.log.assign(whole.log.begin(), whole.log.begin() + static_cast<std::ptrdiff_t>(kept));
    const HostRun resumed = run_host(bench, request, options);
    REQUIRE(resumed.outcome.status.ok());
    CHECK(stable(resumed.outcome.answer) == stable(whole.outcome.answer));
    CHECK(resumed.log == whole.log);
  }
  const uint64_t rows = bench.engine->status().rows;
  HostOptions all;
  all.log = whole.log;
  run_host(bench, request, all);
  CHECK(bench.engine->status().rows == rows);
  all.mode = Journal::Mode::replay;
  CHECK_FALSE(run_host(bench, request, all).difference);
}

TEST_CASE("replay finds what was tampered with") {
  Bench bench;
  const Request request = request_of(kWalk);
  const HostRun whole = run_host(bench, request);
  HostOptions options;
  options.mode = Journal::Mode::replay;
  options.log = whole.log;
  CHECK_FALSE(run_host(bench, request, options).difference);
  for (size_t at = 0; at < whole.log.size(); ++at) {
    options.log = whole.log;
    options.log[at].back() = static_cast<char>(options.log[at].back() ^ 1);
    const HostRun run = run_host(bench, request, options);
    INFO("entry " << at);
    REQUIRE(run.difference.has_value());
    CHECK(run.difference->index == at);
  }
}

TEST_CASE("a log of other arguments is a conflict that names verb and entry") {
  Bench bench;
  const HostRun whole = run_host(bench, request_of("best_of_n:n=2"));
  HostOptions options;
  options.log = whole.log;
  Request other = request_of("best_of_n:n=2");
  other.sampling.temperature = 0.5;
  const HostRun run = run_host(bench, other, options);
  CHECK(run.outcome.status.code() == Code::conflict);
  CHECK_THAT(run.outcome.status.message(), Contains("extend"));
  other = request_of("best_of_n:n=2");
  other.messages = as_messages("say ba.", "");
  CHECK_THAT(run_host(bench, other, options).outcome.status.message(), Contains("entry 0"));
}

TEST_CASE("events are enough to draw the tree") {
  Bench bench;
  const HostRun run = run_host(bench, request_of("best_of_n:n=3"));
  std::vector<Json> events;
  for (const Event& event : run.events) {
    events.push_back(Json::parse(to_text(search::to_json(event))));
  }
  const OrderedJson tree = tree_of(events);
  REQUIRE(tree["branches"].size() == 4);
  uint64_t tokens = 0;
  for (const auto& branch : tree["branches"]) {
    tokens += branch["tokens"].get<uint64_t>();
  }
  CHECK(tokens == run.outcome.answer.ledger.generated_tokens);
  CHECK(tree["best"]["branch"] == run.outcome.answer.candidates[*run.outcome.answer.chosen].branch);
}
