// Decoding against the toy model's own law, computed from the text alone.

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/engine/scheduler/harness.h"

namespace thinkd::engine {
namespace {

using testing::kToyEnd;
using testing::toy_logprobs;
using testing::toy_tokens;
using testing::ToyOptions;

TEST_CASE("greedy decoding takes the likeliest token at every step and says its log-prob") {
  const ToyOptions toy{.depth = 40, .alphabet = "abc", .end_logit = -3};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  const ExtendResult result = extend(*query, item_of(branch_of(*engine, "question:"), {{0}}, 100));
  std::vector<Token> history = toy_tokens("question:");
  for (size_t i = 0; i < result.tokens.size(); ++i) {
    const std::vector<double> law = toy_logprobs(toy, history);
    const auto best = std::max_element(law.begin(), law.end());
    CHECK(result.tokens[i] == static_cast<Token>(best - law.begin()));
    CHECK(std::abs(result.logprobs[i] - *best) < 1e-5);
    history.push_back(result.tokens[i]);
  }
  CHECK(result.end == ExtendEnd::end_token);
  CHECK(result.tokens.back() == kToyEnd);
  CHECK(result.branch.tokens(0, result.branch.length()) == history);
  CHECK(result.text.size() == result.tokens.size() - 1);  // the control token has no text
}

TEST_CASE("sampled texts have the frequencies of the enumerated law (chi-square)") {
  const ToyOptions toy{.depth = 3, .alphabet = "ab"};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  std::map<std::string, double> counts;
  const uint32_t n = 20000;
  std::vector<WorkId> ids;
  for (uint32_t i = 0; i < n; ++i) {
    ids.push_back(query->submit(item_of(branch_of(*engine, "q:"), {{0, i}}, 10, warm(), 99)));
    if (ids.size() == 2000) {
      for (auto& [id, done] : run_all(*query, ids)) {
        counts[std::get<ExtendResult>(done.result).text] += 1;
      }
      ids.clear();
    }
  }
  double chi2 = 0;
  double total = 0;
  const auto texts = testing::enumerate_toy(toy, "q:");
  for (const auto& [text, probability] : texts) {
    chi2 += std::pow(counts[text] - n * probability, 2) / (n * probability);
    total += probability;
  }
  CHECK(texts.size() == 15);
  CHECK(std::abs(total - 1) < 1e-9);
  CHECK(chi2 < 36.1);  // 14 degrees of freedom, p = 0.001
}

TEST_CASE("why an extend ends: stop text, own limit, context") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab", .context = 40, .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  const ExtendResult limited = extend(*query, item_of(branch_of(*engine, "q:"), {{0}}, 5, warm()));
  CHECK(limited.end == ExtendEnd::max_tokens);
  CHECK(limited.tokens.size() == 5);
  const ExtendResult full = extend(*query, item_of(branch_of(*engine, "q:"), {{1}}, 500, warm()));
  CHECK(full.end == ExtendEnd::context);
  CHECK(full.branch.length() == 40);
  ExtendItem stops = item_of(branch_of(*engine, "q:"), {{1}}, 500, warm());
  stops.stops = {full.text.substr(10, 6)};
  const ExtendResult stopped = extend(*query, std::move(stops));
  CHECK(stopped.end == ExtendEnd::stop_text);
  const size_t at = full.text.find(full.text.substr(10, 6));
  CHECK(stopped.text == full.text.substr(0, at));
  CHECK(stopped.tokens.size() == at + 6);  // the branch keeps the whole stop
  CHECK(extend(*query, item_of(branch_of(*engine, "q:"), {{2}}, 0)).end == ExtendEnd::max_tokens);
}

TEST_CASE("a stop text may begin in one extend and end in the next") {
  const ToyOptions toy{.depth = 100, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  const std::string text =
      extend(*query, item_of(branch_of(*engine, "q:"), {{0}}, 30, warm())).text;
  const std::string stop = text.substr(8, 8);
  const size_t at = text.find(stop);
  ExtendItem first =
      item_of(branch_of(*engine, "q:"), {{0}}, static_cast<uint32_t>(at) + 4, warm());
  first.stops = {stop};
  ExtendResult half = extend(*query, std::move(first));
  CHECK(half.end == ExtendEnd::max_tokens);
  ExtendItem second = item_of(std::move(half.branch), {{0}}, 30, warm());
  second.first_draw = half.tokens.size();
  second.matcher = half.matcher;
  second.stops = {stop};
  const ExtendResult rest = extend(*query, std::move(second));
  CHECK(rest.end == ExtendEnd::stop_text);
  CHECK(rest.tokens.size() == 4);
  CHECK(rest.text.empty());  // the stop began before this call: nothing of it is text
}

TEST_CASE("log-probs of a given continuation are those of the law, tokens in the prompt too") {
  const ToyOptions toy{.depth = 60, .alphabet = "ab"};
  auto engine = toy_engine(toy, 64, {.step_rows = 16});
  auto query = engine->new_query({});
  const std::vector<Token> prompt = toy_tokens("q:");
  const std::vector<Token> rest = toy_tokens("abbabbaaabababbbabababaababbabababababaab");
  Branch branch = engine->new_branch();
  branch.append(prompt);
  const WorkId id = query->submit(LogprobsItem{branch, rest, 2});
  auto results = run_all(*query, {id});
  const auto& scored = std::get<LogprobsResult>(results.at(id).result).tokens;
  REQUIRE(scored.size() == rest.size());
  std::vector<Token> history = prompt;
  for (size_t i = 0; i < rest.size(); ++i) {
    const std::vector<double> law = toy_logprobs(toy, history);
    CHECK(std::abs(scored[i].logprob - law[rest[i]]) < 1e-5);
    double entropy = 0;
    for (double logprob : law) {
      entropy -= std::isfinite(logprob) ? std::exp(logprob) * logprob : 0;
    }
    CHECK(std::abs(scored[i].entropy - entropy) < 1e-5);
    CHECK(scored[i].top.size() == 2);
    history.push_back(rest[i]);
  }
}

TEST_CASE("a hidden state is the same computed at once, asked for later, or at a stop") {
  const ToyOptions toy{.depth = 50, .alphabet = "ab", .end_logit = -100};
  auto engine = toy_engine(toy, 64);
  auto query = engine->new_query({});
  ExtendItem item = item_of(branch_of(*engine, "q:"), {{0}}, 40, warm());
  item.hidden_at_stop = true;
  const ExtendResult result = extend(*query, std::move(item));
  REQUIRE(result.hidden.size() == engine->model().runner->shape().width);
  const auto ask = [&](Engine& in, const Branch& branch, uint32_t position) {
    auto asking = in.new_query({});
    const WorkId id = asking->submit(HiddenItem{branch, position});
    auto results = run_all(*asking, {id});
    return std::get<HiddenResult>(results.at(id).result).hidden;
  };
  CHECK(ask(*engine, result.branch, 41) == result.hidden);
  auto fresh = toy_engine(toy, 64);
  Branch again = fresh->new_branch();
  again.append(result.branch.tokens(0, 42));
  CHECK(ask(*fresh, again, 41) == result.hidden);
  CHECK(ask(*fresh, again, 20) == ask(*engine, result.branch, 20));
}

TEST_CASE("work that can never run is refused with both numbers") {
  auto engine = toy_engine({.context = 64}, 8);
  auto query = engine->new_query({.page_quota = 1});
  const WorkId empty = query->submit(item_of(engine->new_branch(), {{0}}, 5));
  const WorkId scored = query->submit(LogprobsItem{engine->new_branch(), {97}, 0});
  Branch longer = engine->new_branch();
  longer.append(std::vector<Token>(33, 97));
  const WorkId large = query->submit(HiddenItem{longer, 0});
  Branch past = engine->new_branch();
  past.append(std::vector<Token>(65, 97));
  const WorkId context = query->submit(item_of(past, {{1}}, 5));
  auto results = run_all(*query, {empty, scored, large, context});
  CHECK(results.at(empty).status.code() == Code::invalid);
  CHECK(results.at(scored).status.code() == Code::invalid);
  CHECK(results.at(large).status.message() == "a branch of 2 pages: the query may use 1");
  CHECK(results.at(context).status.message() ==
        "branch 1: a branch of 65 tokens: the context is 64");
}

}  // namespace
}  // namespace thinkd::engine
