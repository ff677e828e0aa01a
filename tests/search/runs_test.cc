// Runs: admission, one answer per run id, cancel, deadline, many at once, the store behind them.

#include <thread>

#include "base/version.h"
#include "memory/store.h"
#include "search/run_listing.h"
#include "search/run_record.h"
#include "tests/search/fixture.h"
#include "tests/support/catch.h"
#include "tests/support/scratch.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

TEST_CASE("what cannot run is refused before it starts") {
  Bench bench;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  const auto refusal = [&](Request request) { return runs.solve(request).status().message(); };
  CHECK_THAT(refusal(request_of("gready")), Contains("best_of_n"));
  CHECK_THAT(refusal(request_of("best_of_n:n=0")), Contains("n"));
  CHECK_THAT(refusal(request_of("best_of_n:m=3")), Contains("m"));
  CHECK_THAT(refusal(request_of("greedy+step_prune:width=2")), Contains("no attachments"));
  Request request = request_of("greedy");
  request.verifier = "exact";
  CHECK_FALSE(runs.solve(request).ok());  // a grader never chooses
  request.verifier = "mean_logprob";
  CHECK_THAT(refusal(request), Contains("verifier: 'mean_logprob' is a scorer"));
  request.verifier = "countdwon";
  CHECK_THAT(refusal(request), Contains("no verifier 'countdwon'"));
  CHECK_THAT(refusal(request_of("best_of_n:scorer=mean_logprop")),
             Contains("best_of_n: parameter scorer: no verifier 'mean_logprop'"));
  CHECK_THAT(refusal(request_of("best_of_n:scorer=exact")), Contains("is a grader"));
  const std::string no_numbers =
      "'countdown' judges Countdown problems; the request has no numbers";
  CHECK_THAT(refusal(request_of("best_of_n:scorer=game24")),
             Contains("best_of_n: parameter scorer: 'game24' judges Countdown problems"));
  request = request_of("greedy");
  request.verifier = "countdown";
  CHECK_THAT(refusal(request), Contains("verifier: " + no_numbers));
  CHECK(bench.engine->status().steps == 0);
  request = request_of("greedy");
  request.budget.pages = 1'000'000'000;
  CHECK_THAT(refusal(request), Contains("the pool has"));
  CHECK(runs.counters().runs == 0);
}

TEST_CASE("a run id is answered once") {
  Bench bench;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  Request request = request_of("best_of_n:n=4");
  request.run_id = "mine";
  const auto first = runs.solve(request);
  REQUIRE(first.ok());
  size_t heard = 0;
  const uint64_t steps = bench.engine->status().steps;
  const auto second = runs.solve(request, [&](const Event&) { ++heard; });
  REQUIRE(second.ok());
  CHECK(to_text(search::to_json(*first)) == to_text(search::to_json(*second)));
  CHECK(bench.engine->status().steps == steps);
  CHECK(heard > 4);
  request.strategy = *parse_strategy("greedy");
  CHECK(runs.solve(request).status().code() == Code::conflict);
}

TEST_CASE("many runs at once give the bytes each gives alone") {
  Bench bench;
  std::vector<std::string> alone;
  uint64_t steps_alone = 0;
  {
    Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
    for (uint64_t seed = 0; seed < 16; ++seed) {
      alone.push_back(stable(*runs.solve(request_of("best_of_n:n=4", seed))));
    }
    steps_alone = bench.engine->status().steps;
  }
  engine::EngineOptions small;
  small.step_rows = 64;
  Bench crowd(small);
  RunsOptions options;
  options.strategy_threads = 8;
  Runs runs(*crowd.engine, crowd.verifiers, crowd.registry, nullptr, options);
  std::vector<std::string> ids;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    ids.push_back(*runs.start(request_of("best_of_n:n=4", seed)));
  }
  for (uint64_t seed = 0; seed < 16; ++seed) {
    INFO("seed " << seed);
    CHECK(stable(*runs.wait(ids[seed])) == alone[seed]);
  }
  CHECK(crowd.engine->status().steps < steps_alone);
  CHECK(crowd.engine->status().pages_used == 0);
  CHECK(runs.counters().branches == 0);
}

TEST_CASE("a deadline ends a run with the best so far") {
  ToyOptions toy = toy_options();
  toy.depth = 4000;
  toy.end_logit = -1000;
  Bench bench({}, toy);
  Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  Request request = request_of("best_of_n:n=64");
  request.sampling.max_tokens = 4000;
  request.budget.seconds = 0.4;
  const auto answer = runs.solve(request);
  REQUIRE(answer.ok());
  CHECK(answer->stopped_by == "seconds");
  CHECK_FALSE(answer->reproducible_from_seed);
  CHECK(answer->ledger.generated_tokens > 0);
  CHECK(answer->ledger.discarded_tokens == 0);  // unfinished samples are the answer
  CHECK(answer->answer.has_value());
  uint64_t tokens = 0;
  for (const Candidate& candidate : answer->candidates) {
    tokens += candidate.tokens;
  }
  CHECK(tokens == answer->ledger.generated_tokens);
  CHECK(bench.engine->status().pages_used == 0);
}

TEST_CASE("cancel frees everything and still answers") {
  ToyOptions toy = toy_options();
  toy.depth = 4000;
  toy.end_logit = -1000;
  Bench bench({}, toy);
  Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
  Request request = request_of("best_of_n:n=32");
  request.sampling.max_tokens = 4000;
  const auto run_id = runs.start(request);
  REQUIRE(run_id.ok());
  while (bench.engine->status().steps < 5) {
    std::this_thread::yield();
  }
  REQUIRE(runs.cancel(*run_id).ok());
  const auto answer = runs.wait(*run_id);
  REQUIRE(answer.ok());
  CHECK(answer->stopped_by == "cancelled");
  CHECK(runs.get(*run_id)->state == RunState::cancelled);
  CHECK(bench.engine->status().pages_used == 0);
  CHECK(runs.cancel("nobody").code() == Code::not_found);
}

TEST_CASE("with a store: listed, explained, replayed, removed; drained runs go on") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  Bench bench;
  std::string whole;
  {
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    Request request = request_of("walk:n=3");
    request.run_id = "r1";
    std::vector<Json> told;
    const auto answer = runs.solve(request, [&](const Event& event) {
      told.push_back(Json::parse(to_text(search::to_json(event))));
    });
    REQUIRE(answer.ok());
    whole = stable(*answer);
    CHECK(to_text(*runs.explain("r1")) == to_text(tree_of(told)));
    const auto report = runs.replay("r1");
    REQUIRE(report.ok());
    CHECK(report->equal);
    CHECK(report->entries > 5);
    CHECK(runs.resume("r1").status().code() == Code::conflict);
    CHECK(runs.resume("").status().code() == Code::not_found);
  }
  // A run that a crash left behind: its record says running, its journal has a part.
  auto record = (*store)->get_run("r1");
  REQUIRE(record.ok());
  const auto entries = (*store)->read_journal("r1");
  REQUIRE(entries.ok());
  record->run_id = "r2";
  record->state = memory::RunState::running;
  record->result.clear();
  Json request = Json::parse(record->request);
  request["request"]["run_id"] = "r2";
  record->request = to_text(request);
  REQUIRE((*store)->put_run(*record).ok());
  for (uint32_t i = 0; i < entries->size() / 2; ++i) {
    REQUIRE((*store)->append_journal("r2", i, (*entries)[i]).ok());
  }
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  CHECK(runs.get("r2")->state == RunState::interrupted);
  CHECK(*runs.restart_interrupted() == 0);  // not detached
  const auto resumed = runs.resume("");
  REQUIRE(resumed.ok());
  CHECK(*resumed == "r2");
  const auto answer = runs.wait("r2");
  REQUIRE(answer.ok());
  CHECK(stable(*answer) == whole);
  CHECK(runs.list()->size() == 2);
  REQUIRE(runs.remove("r1").ok());
  CHECK(runs.get("r1").status().code() == Code::not_found);
  CHECK(runs.list()->size() == 1);
}

TEST_CASE("drain interrupts, restart goes on with detached runs") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  ToyOptions toy = toy_options();
  toy.depth = 200;
  toy.end_logit = -3;
  Request request = request_of("best_of_n:n=64");
  request.run_id = "long";
  request.detach = true;
  std::string whole;
  {
    Bench bench({}, toy);
    Runs runs(*bench.engine, bench.verifiers, bench.registry, nullptr, {});
    whole = stable(*runs.solve(request));
  }
  {
    Bench bench({}, toy);
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    REQUIRE(runs.start(request).ok());
    while (bench.engine->status().steps < 3) {
      std::this_thread::yield();
    }
    runs.drain(0);
    CHECK(runs.start(request_of("greedy")).status().code() == Code::unavailable);
    const auto ended = runs.wait("long");
    CHECK((ended.ok() || ended.status().code() == Code::cancelled));
  }
  Bench bench({}, toy);
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  REQUIRE(runs.restart_interrupted().ok());
  const auto answer = runs.wait("long");
  REQUIRE(answer.ok());
  CHECK(stable(*answer) == whole);
}

TEST_CASE("one run id from many threads at once is one run") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  for (memory::Store* where : {static_cast<memory::Store*>(nullptr), store->get()}) {
    Bench bench;
    Runs runs(*bench.engine, bench.verifiers, bench.registry, where, {});
    for (int round = 0; round < 8; ++round) {
      INFO("with" << (where ? "" : "out") << " a store, round " << round);
      Request request = request_of("best_of_n:n=4");
      request.run_id = "together" + std::to_string(round);
      std::vector<std::string> answers(6);
      std::vector<size_t> heard(6, 0);
      std::vector<std::thread> threads;
      for (size_t i = 0; i < answers.size(); ++i) {
        threads.emplace_back([&, i] {
          const auto answer = runs.solve(request, [&, i](const Event&) { ++heard[i]; });
          answers[i] = answer.ok() ? to_text(search::to_json(*answer)) : answer.status().message();
        });
      }
      for (std::thread& thread : threads) {
        thread.join();
      }
      // Seconds are in the text: two runs would differ.
      CHECK(answers == std::vector<std::string>(answers.size(), answers.front()));
      CHECK_THAT(answers.front(), Contains(request.run_id));
      CHECK(heard == std::vector<size_t>(heard.size(), heard.front()));
      CHECK(heard.front() > 0);
    }
  }
}

TEST_CASE("a run that the store knows is told from there, event by event") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  Bench bench;
  Request request = request_of("walk:n=3");
  request.run_id = "told";
  const auto hear = [&](Runs& runs, std::vector<std::string>& heard) {
    return runs.solve(
        request, [&](const Event& event) { heard.push_back(to_text(search::to_json(event))); });
  };
  std::vector<std::string> first;
  std::vector<std::string> again;
  std::vector<std::string> later;
  std::string answer;
  {
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
    const auto made = hear(runs, first);
    REQUIRE(made.ok());
    answer = to_text(search::to_json(*made));
    CHECK(to_text(search::to_json(*hear(runs, again))) == answer);
  }
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  CHECK(to_text(search::to_json(*hear(runs, later))) == answer);
  CHECK(first.size() > 10);
  CHECK(again == first);
  CHECK(later == first);
}

TEST_CASE("a list shows the newest, as many as asked for") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  Bench bench;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  for (const char* id : {"a", "b", "c"}) {
    Request request = request_of("greedy");
    request.run_id = id;
    request.trace = std::string_view(id) != "b";  // that one only memory knows
    REQUIRE(runs.solve(request).ok());
  }
  const auto ids = [&](size_t limit) {
    std::string out;
    const auto listed = runs.list(limit);
    REQUIRE(listed.ok());
    for (const RunInfo& info : *listed) {
      out += info.run_id;
      CHECK(info.state == RunState::done);
      CHECK_FALSE(info.result.empty());
    }
    return out;
  };
  CHECK(ids(9) == "cba");
  CHECK(ids(2) == "cb");
  CHECK(ids(0).empty());
  CHECK(runs.latest_interrupted().status().code() == Code::not_found);
  REQUIRE(runs.remove("b").ok());
  CHECK(runs.remove("b").code() == Code::not_found);
  CHECK(ids(9) == "ca");
}

TEST_CASE("a list is short, however long the questions; a refused run leaves nothing stored") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  Bench bench;
  const std::string text(1 << 20, 'a');
  Request request = request_of("greedy");
  request.run_id = "long";
  request.messages.insert(request.messages.begin(), {"system", text});
  request.messages.back().content = text;
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), {});
  CHECK(runs.solve(request).status().code() == Code::limit);  // past the context
  CHECK((*store)->get_run("long").status().code() == Code::not_found);
  CHECK(runs.get("long")->state == RunState::failed);  // this process still tells
  memory::RunRecord record;                            // as a crash leaves it
  record.run_id = "left";
  request.run_id = "left";
  record.request = stored_request(request, 1, bench.engine->model().info.sha256, "a build");
  REQUIRE((*store)->put_run(record).ok());
  const auto listed = runs.list();
  REQUIRE(listed.ok());
  REQUIRE(listed->size() == 2);
  for (const RunInfo& info : *listed) {
    CHECK(info.request.size() < 1000);
    const Json shown = Json::parse(info.request);
    REQUIRE(shown["messages"].size() == 1);
    CHECK(shown["messages"][0]["content"] == text.substr(0, limits::kListedTextBytes) + "...");
  }
  CHECK(runs.get("left")->request.size() > 2 * text.size());
}

// With a quota of a few pages branches take turns, so the log has another order than side by side.
TEST_CASE("the page quota belongs to the run: replay and resume keep it, a small pool is refused") {
  ScratchFolder scratch;
  auto store = memory::Store::open(scratch.path("store"));
  REQUIRE(store.ok());
  ToyOptions toy = toy_options();
  toy.depth = 60;
  toy.end_logit = -3;
  Request request = request_of("best_of_n:n=6");
  RunsOptions narrow;
  RunsOptions wide;
  wide.page_share = 1;
  engine::EngineOptions large;
  large.kv_pool_bytes = 64 << 20;
  Bench bench(large, toy);
  narrow.page_share = bench.engine->pages_total() / 8;
  std::vector<std::string> tight;
  {
    Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), narrow);
    request.run_id = "tight";
    REQUIRE(runs.solve(request).ok());
    tight = *(*store)->read_journal("tight");
  }
  Runs runs(*bench.engine, bench.verifiers, bench.registry, store->get(), wide);
  request.run_id = "free";
  REQUIRE(runs.solve(request).ok());
  REQUIRE(*(*store)->read_journal("free") != tight);
  const auto report = runs.replay("tight");
  REQUIRE(report.ok());
  CHECK(report->equal);

  auto record = (*store)->get_run("tight");
  REQUIRE(record.ok());
  const auto interrupted = [&](const std::string& run_id, const char* member, Json value) {
    memory::RunRecord copy = *record;
    copy.run_id = run_id;
    copy.state = memory::RunState::running;
    copy.result.clear();
    Json request_json = Json::parse(copy.request);
    request_json["request"]["run_id"] = run_id;
    request_json[member] = std::move(value);
    copy.request = to_text(request_json);
    REQUIRE((*store)->put_run(copy).ok());
    for (uint32_t i = 0; i < tight.size() / 2; ++i) {
      REQUIRE((*store)->append_journal(run_id, i, tight[i]).ok());
    }
  };
  const Json kept = Json::parse(record->request);
  interrupted("half", "pages", kept["pages"]);
  REQUIRE(runs.resume("half").ok());
  REQUIRE(runs.wait("half").ok());
  CHECK(*(*store)->read_journal("half") == tight);

  interrupted("huge", "pages", bench.engine->pages_total() + 1);
  const Status refused = runs.resume("huge").status();
  CHECK(refused.code() == Code::limit);
  CHECK_THAT(refused.message(), Contains(std::to_string(bench.engine->pages_total() + 1)));
  CHECK_THAT(refused.message(), Contains("has " + std::to_string(bench.engine->pages_total())));
  CHECK(runs.replay("huge").status().code() == Code::conflict);  // its trace is not whole

  interrupted("other", "build", "0.0.1+abc");
  const Status foreign = runs.resume("other").status();
  CHECK(foreign.code() == Code::conflict);
  CHECK_THAT(foreign.message(), Contains("0.0.1+abc"));
  CHECK_THAT(foreign.message(), Contains(std::string(build_id())));
}
