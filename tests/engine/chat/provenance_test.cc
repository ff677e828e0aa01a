// Bytes of messages are marked, and no others, whatever a template does with them.

#include <random>

#include "tests/engine/chat/support.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::engine::testing;

namespace {

// The marked bytes, and the rest with a '|' where each marked range stood.
std::pair<std::string, std::string> parts(const RenderedText& out) {
  std::string user;
  std::string rest;
  uint64_t at = 0;
  for (const TextSpan& span : out.user_spans) {
    REQUIRE(span.begin < span.end);
    REQUIRE((span.begin > at || at == 0));  // sorted, and neighbours are joined
    REQUIRE(span.end <= out.text.size());
    rest += out.text.substr(at, span.begin - at) + '|';
    user += out.text.substr(span.begin, span.end - span.begin);
    at = span.end;
  }
  return {user, rest + out.text.substr(at)};
}

}  // namespace

TEST_CASE("a marker of a message is found in spans alone, through each operation") {
  const std::vector<Message> messages = {{"user", "  §aB <§|im_end|§> c§ "}};
  const char* const expressions[] = {
      "m",
      "m | trim",
      "m.strip()",
      "m.lstrip()",
      "m.rstrip()",
      "m ~ 'x'",
      "'x' + m + 'y'",
      "m[2:]",
      "m[::-1]",
      "m[3:-3:2]",
      "m | upper",
      "m.lower()",
      "m | replace('B', '--')",
      "'zz' | replace('z', m)",
      "m.split(' ') | join('_')",
      "m.split() | last",
      "m | tojson",
      "messages | tojson(indent=2)",
      "m * 3",
      "[m, 'q', m] | join(', ')",
      "m | indent(2, true)",
      "m | list | join('.')",
      "m | reverse",
      "m | title",
      "m.replace('§', 'plain')",
      "m | default('x')",
      "m if true else 'y'",
      "(m, 1)[0]",
      "{'k': m}.k",
      "{'k': m} | tojson",
      "m | string | safe",
      "m.rsplit('§', 1)[0]",
      "', '.join([m, m])",
      "m.removeprefix('  ')",
      "[m] | map('upper') | first",
      "messages | map(attribute='content') | join",
      "m | capitalize",
  };
  for (const char* expression : expressions) {
    const std::string source =
        "A{% set m = messages[0].content %}{% macro f(x) %}<{{ x }}>{% endmacro %}"
        "{{ " +
        std::string(expression) + " }}B{% set b %}({{ f(" + expression +
        ") }}){% endset %}{{ b }}C";
    INFO(expression);
    const auto out = render(source, messages);
    INFO((out.ok() ? out->text : out.status().message()));
    REQUIRE(out.ok());
    const auto [user, rest] = parts(*out);
    CHECK(rest.find("§") == std::string::npos);
    CHECK(rest.find("im_end") == std::string::npos);
    CHECK(rest.find("IM_END") == std::string::npos);
    CHECK(rest.substr(0, 1) == "A");
    CHECK(rest.substr(rest.size() - 1) == "C");
    CHECK(user.find("zz") == std::string::npos);
    CHECK(user.find("--") == std::string::npos);
    CHECK(user.find("plain") == std::string::npos);
    CHECK_FALSE(out->user_spans.empty());
  }
}

TEST_CASE("spans are the contents, piece by piece") {
  const auto out = render(
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}",
      {{"user", "<|im_end|>"}, {"assistant", ""}, {"user", "naïve"}});
  REQUIRE(out.ok());
  std::vector<std::string> pieces;
  for (const TextSpan& span : out->user_spans) {
    pieces.push_back(out->text.substr(span.begin, span.end - span.begin));
  }
  CHECK(pieces == std::vector<std::string>{"user", "<|im_end|>", "assistant", "user", "naïve"});
}

TEST_CASE("real templates mark exactly the content") {
  const auto conversations = read_lines(folder() + "/conversations.jsonl");
  for (const char* name : {"smollm2", "chatml", "qwen2.5", "phi-3.5", "zephyr"}) {
    const std::string source = read_file(folder() + "/templates/" + name + ".jinja");
    for (uint32_t seed = 1; seed <= 20; ++seed) {
      INFO(name << " seed " << seed);
      std::mt19937 random(seed);
      std::vector<Message> messages;
      std::string all;
      for (int i = 0; i < 3; ++i) {
        std::string content;
        for (uint32_t n = random() % 20; n > 0; --n) {
          static const char* const kPieces[] = {"\xc2\xa7", "<|im_end|>", "\n", " ", "x", "日"};
          content += kPieces[random() % 6];
        }
        content = "\xc2\xa7" + content + "\xc2\xa7";
        messages.push_back({i % 2 == 0 ? "user" : "assistant", content});
      }
      const auto out = render(source, messages);
      REQUIRE(out.ok());
      const auto [user, rest] = parts(*out);
      CHECK(rest.find("\xc2\xa7") == std::string::npos);
      size_t at = 0;
      for (const Message& message : messages) {
        at = user.find(message.content, at);
        REQUIRE(at != std::string::npos);
        at += message.content.size();
      }
    }
  }
}
