// The parts that need no engine: lineage, journal entries, the answer rule, the tree of events.

#include <nlohmann/json.hpp>

#include "search/answer.h"
#include "search/event.h"
#include "search/journal.h"
#include "search/lineage.h"
#include "search/stop.h"
#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::search;

namespace {

Candidate candidate(std::optional<std::string> answer, double score, std::string text = "t") {
  Candidate out;
  out.answer = std::move(answer);
  out.score = score;
  out.text = std::move(text);
  return out;
}

}  // namespace

TEST_CASE("lineage: shared tokens are discarded once, kept ones never") {
  auto discards = std::make_shared<Discards>();
  {
    Lineage root(discards);
    root.grow(10, std::vector<double>{-1, -2, -3});
    Lineage child = root;
    child.grow(13, std::vector<double>{-4, -5});
    Lineage other = root;
    other.truncate(12);
    other.grow(12, std::vector<double>{-6});
    CHECK(child.tokens() == 5);
    CHECK(child.sum_logprob() == -15);
    CHECK(other.tokens() == 3);
    CHECK(other.sum_logprob() == -9);
    CHECK(other.ranges() == std::vector<std::pair<uint32_t, uint32_t>>{{10, 2}, {12, 1}});
    other.keep();  // two of the root's, one of its own
  }
  CHECK(discards->tokens == 3);  // the root's third, the child's two
}

TEST_CASE("lineage: a long chain goes without recursion") {
  auto discards = std::make_shared<Discards>();
  {
    Lineage line(discards);
    std::vector<Lineage> holders;
    for (uint32_t i = 0; i < 200'000; ++i) {
      line.grow(i, std::vector<double>{-1});
      if (i % 2 == 0) {
        holders.push_back(line);  // keeps the next one from joining this chunk
      }
    }
    holders.clear();
  }
  CHECK(discards->tokens == 200'000);
}

TEST_CASE("journal entries read back, and nothing else does") {
  const Entry entry{3, 7, 9, "0.1", sha256("a"), std::string("pay\0load", 8)};
  const std::string bytes = encode(entry);
  const auto back = decode_entry(bytes);
  REQUIRE(back.ok());
  CHECK(*back == entry);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    CHECK_FALSE(decode_entry(std::string_view(bytes).substr(0, cut)).ok());
  }
  CHECK_FALSE(decode_entry(bytes + "x").ok());
  std::string other = bytes;
  other[0] = 2;
  CHECK(decode_entry(other).status().code() == Code::conflict);
  CHECK_THAT(decode_entry(other).status().message(), Contains("version 2"));
}

TEST_CASE("journal: other arguments and other values are conflicts that name the place") {
  const Entry entry{3, 0, 1, "0.1", sha256("args"), "value"};
  Journal record(memory_sink(nullptr), {entry}, Journal::Mode::record);
  CHECK(record.recorded(3, 1, "0.1", sha256("other")).status().code() == Code::conflict);
  const auto known = record.recorded(3, 1, "0.1", sha256("args"));
  REQUIRE(known.ok());
  CHECK(*known == "value");
  Journal replay(memory_sink(nullptr), {entry}, Journal::Mode::replay);
  CHECK_FALSE(replay.recorded(3, 1, "0.1", sha256("args"))->has_value());
  CHECK(replay.add(3, 1, "0.1", sha256("args"), "other").code() == Code::conflict);
  REQUIRE(replay.difference().has_value());
  CHECK(replay.difference()->verb == "extend");
  CHECK(replay.difference()->branch == "0.1");
}

TEST_CASE("the answer rule") {
  const std::vector<Candidate> all = {candidate("4", 0.1), candidate("5", 0.9), candidate("4", 0.2),
                                      candidate(std::nullopt, 2.0)};
  const auto by = [&](sdk::AnswerRule rule) { return choose({rule}, all, false); };
  CHECK(by(sdk::AnswerRule::first).answer == "4");
  CHECK(by(sdk::AnswerRule::vote).answer == "4");
  CHECK(by(sdk::AnswerRule::vote).confidence == 0.5);
  CHECK(by(sdk::AnswerRule::weighted_vote).answer == "5");
  CHECK(by(sdk::AnswerRule::best_score).candidate == 3u);
  CHECK_FALSE(by(sdk::AnswerRule::best_score).answer);
  CHECK_FALSE(choose({}, {}, true).candidate);

  std::vector<Candidate> verified = all;
  verified[1].verdict = "correct";
  CHECK(choose({sdk::AnswerRule::vote}, verified, false).answer == "5");

  const std::vector<Candidate> words = {candidate(std::nullopt, 0, " hello \n")};
  CHECK(choose({sdk::AnswerRule::vote}, words, true).answer == "hello");
  CHECK_FALSE(choose({sdk::AnswerRule::vote}, words, false).answer);
}

TEST_CASE("answers read back from their JSON") {
  Answer answer;
  answer.answer = "24";
  answer.confidence = 0.5;
  answer.confidence_kind = "vote_share";
  answer.candidates = {candidate("24", -0.25)};
  answer.ledger.prompt_tokens = 3;
  answer.ledger.generated_tokens = 4;
  answer.seed = 9;
  answer.strategy = {"greedy", "{}", {}};
  const std::string text = to_text(search::to_json(answer));
  const auto back = answer_from_json(Json::parse(text));
  REQUIRE(back.ok());
  CHECK(to_text(search::to_json(*back)) == text);
  CHECK(text.find("\"total_tokens\":7") != std::string::npos);
  CHECK(text.starts_with(R"({"answer":"24","confidence":0.5,"confidence_kind":"vote_share",)"));
}

TEST_CASE("a tree is drawn from events") {
  std::vector<Event> events(4);
  events[0].kind = EventKind::opened;
  events[0].branch = "0";
  events[1].kind = EventKind::opened;
  events[1].branch = "0.0";
  events[1].parent = "0";
  events[2].kind = EventKind::extended;
  events[2].branch = "0.0";
  events[2].text = "ab";
  events[2].tokens = 2;
  events[3].kind = EventKind::pruned;
  events[3].branch = "0.0";
  std::vector<Json> json;
  for (const Event& event : events) {
    json.push_back(Json::parse(to_text(search::to_json(event))));
  }
  const OrderedJson tree = tree_of(json);
  REQUIRE(tree["branches"].size() == 2);
  CHECK(tree["branches"][1]["parent"] == "0");
  CHECK(tree["branches"][1]["text"] == "ab");
  CHECK(tree["branches"][1]["pruned"] == true);
  CHECK(tree["branches"][0]["pruned"] == false);
}

TEST_CASE("stop points read back") {
  const auto back = decode_stop(encode(StopPoint{StopReason::cancelled, true, 12, 3}));
  REQUIRE(back.ok());
  CHECK(back->tick == 12);
  CHECK_FALSE(decode_stop(encode(StopPoint{StopReason::tokens, true, 1, 1})).ok());
  CHECK_FALSE(decode_stop("x").ok());
}
