// Byte-equal to jinja2 on published templates: tests/reference/chat/make.py wrote the expectations.

#include <map>

#include "tests/engine/chat/support.h"

using namespace thinkd;
using namespace thinkd::engine;
using namespace thinkd::engine::testing;

TEST_CASE("templates render as jinja2 renders them") {
  const auto conversations = read_lines(folder() + "/conversations.jsonl");
  const auto cases = read_lines(folder() + "/reference.jsonl");
  REQUIRE(conversations.size() >= 10);
  REQUIRE(cases.size() >= 20 * conversations.size());
  std::map<std::string, std::string> sources;
  for (const auto& item : cases) {
    const std::string name = item.at("template").get<std::string>();
    if (sources.count(name) == 0) {
      sources[name] = read_file(folder() + "/templates/" + name);
    }
    const auto messages = messages_of(conversations.at(item.at("conversation").get<size_t>()));
    RenderOptions options = usual_options();
    options.add_generation_prompt = item.at("prompt").get<bool>();
    for (const auto& [flag, value] : item.at("flags").items()) {
      options.flags.emplace_back(flag, value.get<bool>());
    }
    const auto out = render(sources[name], messages, options);
    INFO(name << " conversation " << item.at("conversation") << " prompt " << item.at("prompt")
              << " flags " << item.at("flags").dump());
    if (item.contains("text")) {
      INFO((out.ok() ? "" : out.status().message()));
      CHECK(out.ok());
      if (out.ok()) {
        CHECK(out->text == item.at("text").get<std::string>());
      }
    } else {
      INFO("expected error: " << item.at("error"));
      CHECK_FALSE(out.ok());
      if (!out.ok() && item.at("raised").get<bool>()) {
        INFO(out.status().message());
        CHECK(out.status().code() == Code::invalid);
        CHECK(out.status().message().find(item.at("error").get<std::string>()) !=
              std::string::npos);
      }
    }
  }
}

TEST_CASE("what is outside the subset is refused by name and line at parse time") {
  const std::pair<const char*, const char*> bad[] = {
      {"a\n{% include 'x' %}", "line 2: unsupported: the statement 'include'"},
      {"{{ x | nofilter }}", "line 1: unsupported: the filter 'nofilter'"},
      {"\n\n{{ x is nosuch }}", "line 3: unsupported: the test 'nosuch'"},
      {"{{ x.format(1) }}", "unsupported: the method 'format'"},
      {"{{ 2 ** 3 }}", "unsupported: the operator '**'"},
      {"{% for x in y recursive %}{% endfor %}", "unsupported: a recursive loop"},
      {"{{ f(*x) }}", "unsupported: arguments unpacked"},
      {"{{ cycler(1) }}", "unsupported: 'cycler'"},
      {"{{ loop.changed(1) }}", "unsupported: loop.changed"},
      {"{% if x %}", "expected 'endif'"},
      {"{{ x", "a {{ tag that never ends"},
      {"{# x", "a comment that never ends"},
      {"{% break %}", "'break' outside a loop"},
      {"{{ 'x }}", "a string that never ends"},
      {"{{ (1 }}", "unexpected '}'"},
      {"{% frob %}", "no such statement: 'frob'"},
      {"\xff", "not UTF-8"},
  };
  for (const auto& [source, message] : bad) {
    INFO(source);
    const auto parsed = ChatTemplate::parse(source);
    REQUIRE_FALSE(parsed.ok());
    INFO(parsed.status().message());
    CHECK(parsed.status().message().find(message) != std::string::npos);
  }
}

TEST_CASE("what only a value decides is refused at render time") {
  CHECK(text_of("{{ x.y }}") == "error: chat template line 1: 'x' is undefined");
  CHECK(text_of("{{ x + 'a' }}") == "error: chat template line 1: 'x' is undefined");
  CHECK(text_of("[{{ x }}]") == "[]");
  CHECK(text_of("{{ [1] }}") == "error: chat template line 1: unsupported: printing a list");
  CHECK(text_of("{% set l = [] %}{{ l.append(1) }}") ==
        "error: chat template line 1: the sandbox allows no 'append'");
  CHECK(text_of("{{ 1 // 0 }}") == "error: chat template line 1: division by zero");
  CHECK(text_of("{{ 9223372036854775807 + 1 }}").find("beyond 64 bits") != std::string::npos);
  CHECK(text_of("{{ 'a' + 1 }}").find("'+' between str and int") != std::string::npos);
  CHECK(text_of("{{ raise_exception('no ' ~ 1) }}") == "error: chat template line 1: no 1");
  CHECK(text_of("{{ 'a' | safe ~ 'b' }}").find("unsupported") != std::string::npos);
  CHECK(text_of("{{ messages | length }}", {{"user", "\xff"}}) == "error: message 0: not UTF-8");
}
