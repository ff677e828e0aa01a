// Hostile templates end in an error, in bounded time and memory.

#include <cstdio>
#include <random>

#include "base/limits.h"
#include "tests/engine/chat/support.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::engine::testing;

namespace {

std::string repeat(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) {
    out += text;
  }
  return out;
}

}  // namespace

TEST_CASE("steps, output, depth and size are bounded") {
  const std::string bombs[] = {
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
      "{{ 'x' * 999999999999 }}",
      "{{ [1] * 999999999999 }}",
      "{{ 'x' * 9223372036854775807 }}",
      "{% set ns = namespace(x='ab') %}{% for a in range(99999) %}"
      "{% set ns.x = ns.x.replace('a', ns.x) %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for a in range(999) %}"
      "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for a in range(99999) %}"
      "{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
      "{% set ns = namespace(x=[], y=[]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
      "{% set ns = namespace(x=[]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% endfor %}{{ ns.x | tojson }}",
      "{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}",
      "{% macro f(x=f()) %}{% endmacro %}{{ f() }}",
      "{% set x = 'a' * 8000000 %}{% for i in range(99999) %}{{ x == x ~ '' }}{% endfor %}",
      "{% set x = 'a' * 8000000 %}{% set y = 'a' * 4000000 ~ 'b' %}"
      "{% for i in range(9999) %}{{ y in x }}{% endfor %}",
      "{% set x = 'a' * 4000000 %}{% for i in range(99999) %}{% if x %}{{ x | upper }}{% endif %}"
      "{% endfor %}",
      "{{ range(1000000) | length }}",
      "{{ 'x' | indent(99999999) }}",
      "{{ [[1]] | tojson(indent=99999999) }}",
      "{{ (',' * 4000000).split(',') | length }}",
      repeat("{% if true %}", 70) + repeat("{% endif %}", 70),
      "{{ " + repeat("(", 70) + "1" + repeat(")", 70) + " }}",
      "{{ " + repeat("not ", 5000) + "1 }}",
      "{{ " + repeat("-", 5000) + "1 }}",
      "{{ " + repeat("[", 5000) + repeat("]", 5000) + " }}",
      "{{ " + repeat("1 if 1 else ", 5000) + "1 }}",
      std::string(limits::kTemplateBytes + 1, 'x'),
  };
  for (const std::string& bomb : bombs) {
    INFO(bomb.substr(0, 200));
    const auto out = render(bomb, {{"user", "hi"}});
    REQUIRE_FALSE(out.ok());
    INFO(out.status().message());
    CHECK(out.status().code() == Code::limit);
  }
}

TEST_CASE("long flat chains are no depth") {
  const size_t count = 5000;
  CHECK(text_of("{{ 0" + repeat(" + 1", count) + " }}") == std::to_string(count));
  CHECK(text_of("{{ ''" + repeat(" ~ 'a'", count) + " }}") == std::string(count, 'a'));
  CHECK(text_of("{{ 'a'" + repeat("|trim", count) + " }}") == "a");
  CHECK(text_of("{{ 1" + repeat(" and 1", count) + " }}") == "1");
  CHECK(text_of("{% if 0 %}" + repeat("{% elif 0 %}", count / 2) + "{% else %}x{% endif %}") ==
        "x");
}

TEST_CASE("large contents pass") {
  const std::string content(3 << 20, 'q');
  const auto out = render("{{ messages[0].content | trim }}", {{"user", content}});
  REQUIRE(out.ok());
  CHECK(out->text == content);
  CHECK(out->user_spans.size() == 1);
}

TEST_CASE("mutated templates never crash") {
  std::vector<std::string> sources;
  for (const char* name : {"constructs", "header-style", "turn-style", "qwen3", "gpt-oss",
                           "mistral-nemo", "granite-3.3", "smollm3"}) {
    sources.push_back(read_file(folder() + "/templates/" + name + ".jinja"));
  }
  const uint32_t seed = 20240726;
  std::printf("chat template mutations: seed %u\n", seed);
  std::mt19937 random(seed);
  size_t rendered = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = sources[random() % sources.size()];
    for (uint32_t n = 1 + random() % 4; n > 0; --n) {
      const size_t at = random() % text.size();
      const size_t length = std::min<size_t>(random() % 30, text.size() - at);
      switch (random() % 5) {
        case 0:
          text[at] = static_cast<char>(random() % 128);
          break;
        case 1:
          text.erase(at, length);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        case 3:
          text.resize(at + 1);
          break;
        default: {
          static const char* const kPieces[] = {
              "{{",     "}}",       "{%",        "%}",   "{#",   "-",           "'",
              "[",      "(",        " * 99999 ", "|",    " is ", " ~ ",         "loop.",
              "[::-1]", "messages", " in ",      "None", "0",    "\xe2\x80\x83"};
          text.insert(at, kPieces[random() % 20]);
        }
      }
    }
    const auto out = render(text, {{"system", "s"}, {"user", "Hello é"}, {"assistant", "x"}});
    rendered += out.ok() ? 1 : 0;
    if (out.ok()) {
      REQUIRE((out->user_spans.empty() || out->user_spans.back().end <= out->text.size()));
    } else {
      REQUIRE_FALSE(out.status().message().empty());
    }
  }
  CHECK(rendered > 100);
  CHECK(rendered < 2000);
}
