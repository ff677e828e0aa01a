// Beam search against what it must equal: greedy decoding, the enumerated best text, and its own
// rule read back from the events. A step of the toy model ends at the letter "a".

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/search/host_run.h"

using namespace thinkd;
using namespace thinkd::search;
using namespace thinkd::testing;

namespace {

// The prompt of request_of() as the toy model's template writes it.
std::vector<engine::Token> prompt_tokens() {
  std::vector<engine::Token> tokens = {kToyStart};
  const auto add = [&](std::string_view text, std::optional<engine::Token> control) {
    for (const engine::Token token : toy_tokens(text)) {
      tokens.push_back(token);
    }
    if (control) {
      tokens.push_back(*control);
    }
  };
  add("user\nsay ab.", kToyEnd);
  add("\n", kToyStart);
  add("assistant\n", std::nullopt);
  return tokens;
}

// Every text that can follow, with the mean log-prob of its tokens, by the law alone.
void enumerate(const ToyOptions& toy, const std::vector<engine::Token>& history,
               const std::string& text, double sum, std::map<std::string, double>& into) {
  const std::vector<double> law = toy_logprobs(toy, history);
  into[text] = (sum + law[kToyEnd]) / (static_cast<double>(text.size()) + 1);
  if (text.size() == toy.depth) {
    return;
  }
  for (const char letter : toy.alphabet) {
    std::vector<engine::Token> longer = history;
    longer.push_back(static_cast<engine::Token>(letter));
    enumerate(toy, longer, text + letter, sum + law[longer.back()], into);
  }
}

struct Node {
  std::optional<double> score;
  int pruned = 0;
  bool candidate = false;
  bool parent = false;
};

std::map<std::string, Node> tree_from(const std::vector<Event>& events) {
  std::map<std::string, Node> nodes;
  for (const Event& event : events) {
    if (event.branch.empty()) {
      continue;
    }
    Node& node = nodes[event.branch];
    if (event.kind == EventKind::opened && !event.parent.empty()) {
      nodes[event.parent].parent = true;
    }
    if (event.kind == EventKind::scored) {
      node.score = event.score;
    }
    node.pruned += event.kind == EventKind::pruned ? 1 : 0;
    node.candidate = node.candidate || event.kind == EventKind::finished;
  }
  return nodes;
}

}  // namespace

TEST_CASE("beam: one beam without chance is greedy decoding") {
  Bench bench;
  Request request = request_of("beam:n=1,width=1,step=a");
  request.sampling.temperature = 0.0;
  const HostRun beam = run_host(bench, request);
  const HostRun greedy = run_host(bench, request_of("greedy"));
  REQUIRE(beam.outcome.status.ok());
  REQUIRE(beam.outcome.answer.candidates.size() == 1);
  CHECK(beam.outcome.answer.candidates[0].text == greedy.outcome.answer.candidates[0].text);
  CHECK(beam.outcome.answer.ledger.generated_tokens ==
        greedy.outcome.answer.ledger.generated_tokens);
}

TEST_CASE("beam: wide enough, it meets every text and takes the likeliest a token") {
  ToyOptions toy = toy_options();
  toy.depth = 3;
  toy.alphabet = "ab";
  toy.end_logit = -0.5;
  Bench bench({}, toy);
  Request request = request_of("beam:n=2048,width=32,step=a,scorer=mean_logprob");
  request.sampling.temperature = 1.0;
  request.sampling.top_p = 1.0;
  const HostRun run = run_host(bench, request);
  REQUIRE(run.outcome.status.ok());
  std::map<std::string, double> expected;
  enumerate(toy, prompt_tokens(), "", 0, expected);
  std::map<std::string, double> met;
  for (const Candidate& candidate : run.outcome.answer.candidates) {
    met[candidate.text] = *candidate.score;
  }
  REQUIRE(met.size() == expected.size());
  for (const auto& [text, score] : expected) {
    INFO(text);
    REQUIRE(met.contains(text));
    CHECK(std::abs(met[text] - score) < 1e-6);
  }
  const auto best = std::max_element(expected.begin(), expected.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const auto first = run.outcome.answer.candidates.begin();
  const auto chosen =
      std::max_element(first, run.outcome.answer.candidates.end(),
                       [](const Candidate& a, const Candidate& b) { return *a.score < *b.score; });
  CHECK(chosen->text == best->first);
}

TEST_CASE("beam: no more than width go on, and none that was pruned scored better") {
  const uint64_t seed = GENERATE(range<uint64_t>(1, 12));
  const bool distinct = GENERATE(true, false);
  Bench bench;
  const HostRun run = run_host(bench, request_of("beam:n=9,width=3,step=a,distinct=" +
                                                     std::string(distinct ? "true" : "false"),
                                                 seed));
  REQUIRE(run.outcome.status.ok());
  INFO("seed " << seed);
  std::map<size_t, std::vector<Node>> levels;
  for (const auto& [branch, node] : tree_from(run.events)) {
    if (node.score) {
      levels[static_cast<size_t>(std::count(branch.begin(), branch.end(), '.'))].push_back(node);
    }
  }
  size_t places = 3;
  for (const auto& [level, nodes] : levels) {
    size_t kept = 0;
    size_t done = 0;
    double worst_kept = INFINITY;
    double best_pruned = -INFINITY;
    for (const Node& node : nodes) {
      CHECK(node.pruned <= 1);  // told once
      CHECK((node.pruned == 1 || node.parent || node.candidate));
      kept += node.pruned == 1 ? 0 : 1;
      done += node.candidate ? 1 : 0;
      (node.pruned == 1 ? best_pruned : worst_kept) =
          node.pruned == 1 ? std::max(best_pruned, *node.score) : std::min(worst_kept, *node.score);
    }
    CHECK(kept <= places);
    CHECK((kept == places || best_pruned == -INFINITY));
    CHECK(worst_kept >= best_pruned);
    places -= done;
  }
  CHECK(run.outcome.answer.candidates.size() <= 3);
  CHECK_FALSE(run.outcome.answer.candidates.empty());
}

TEST_CASE("beam: equal steps of one parent count once") {
  Bench bench;
  const HostRun run = run_host(bench, request_of("beam:n=12,width=12,step=a,max_steps=2"));
  REQUIRE(run.outcome.status.ok());
  std::set<std::string> texts;
  for (const Candidate& candidate : run.outcome.answer.candidates) {
    CHECK(texts.insert(candidate.text).second);
  }
}

TEST_CASE("beam: a stop text of the user ends a branch, a step does not") {
  Bench bench;
  Request request = request_of("beam:n=8,width=4,step=a");
  request.sampling.stop = {"c"};
  const HostRun run = run_host(bench, request);
  REQUIRE(run.outcome.status.ok());
  size_t with_steps = 0;
  for (const Candidate& candidate : run.outcome.answer.candidates) {
    CHECK(candidate.text.find('c') == std::string::npos);
    with_steps += candidate.text.find('a') != std::string::npos ? 1 : 0;
  }
  CHECK(with_steps > 0);
}

TEST_CASE("beam: the limit on tokens ends a branch where it stands") {
  Bench bench;
  Request request = request_of("beam:n=6,width=3,step=a");
  request.sampling.max_tokens = 4;
  const HostRun run = run_host(bench, request);
  REQUIRE(run.outcome.status.ok());
  REQUIRE(run.outcome.answer.candidates.size() == 3);
  for (const Candidate& candidate : run.outcome.answer.candidates) {
    CHECK(candidate.tokens <= 4);
  }
}

TEST_CASE("beam: a width above n is refused by name") {
  Bench bench;
  const HostRun run = run_host(bench, request_of("beam:n=2,width=3"));
  CHECK_THAT(run.outcome.status.message(), Contains("width is 3"));
}

TEST_CASE("beam: replayed, and resumed from every prefix of the log") {
  engine::EngineOptions cold;
  cold.prefix_cache = false;
  Bench bench(cold);
  const Request request = request_of("beam:n=6,width=2,step=a");
  const HostRun whole = run_host(bench, request);
  REQUIRE(whole.outcome.status.ok());
  HostOptions options;
  options.log = whole.log;
  options.mode = Journal::Mode::replay;
  CHECK_FALSE(run_host(bench, request, options).difference);
  options.mode = Journal::Mode::record;
  for (size_t size = 0; size <= whole.log.size(); ++size) {
    options.log.assign(whole.log.begin(), whole.log.begin() + static_cast<ptrdiff_t>(size));
    const HostRun resumed = run_host(bench, request, options);
    INFO("resumed from " << size << " of " << whole.log.size() << " entries");
    REQUIRE(resumed.outcome.status.ok());
    CHECK(stable(resumed.outcome.answer) == stable(whole.outcome.answer));
    CHECK(resumed.log == whole.log);
  }
}
