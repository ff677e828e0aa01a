// Against the `tokenizers` library: tests/reference/tokenizer/make.py says how the file was made.

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/engine/tokenizer/smollm2.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

std::vector<Json> reference_lines() {
  const Result<std::string> file =
      read_file(THINKD_SOURCE_DIR "/tests/data/tokenizer/lines.jsonl", 1 << 20);
  REQUIRE(file.ok());
  std::vector<Json> lines;
  for (const std::string_view line : split(*file, '\n')) {
    if (!line.empty()) {
      Result<Json> parsed = parse_json(line);
      REQUIRE(parsed.ok());
      lines.push_back(*std::move(parsed));
    }
  }
  return lines;
}

std::vector<Token> expected(const Json& line, const std::string& name) {
  return line.value(name, line.at("smollm")).get<std::vector<Token>>();
}

}  // namespace

TEST_CASE("ids equal those of the reference tokenizer on 1,000 lines") {
  const std::vector<Json> lines = reference_lines();
  REQUIRE(lines.size() == 1000);
  for (const std::string name : {"smollm", "llama-bpe", "qwen2", "gpt-2"}) {
    const auto tokenizer = make_tokenizer(smollm2_spec(name));
    for (const Json& line : lines) {
      const auto text = line.at("text").get<std::string>();
      CAPTURE(name, text);
      const Result<std::vector<Token>> tokens = tokenizer->encode(text);
      REQUIRE(tokens.ok());
      CHECK(*tokens == expected(line, name));
      CHECK(tokenizer->decode(*tokens, false) == text);
    }
  }
}

TEST_CASE("control tokens in text equal those of the reference tokenizer") {
  const auto tokenizer = make_tokenizer(smollm2_spec("smollm"));
  size_t with_control = 0;
  for (const Json& line : reference_lines()) {
    const auto text = line.at("text").get<std::string>();
    CAPTURE(text);
    const Result<std::vector<Token>> tokens = tokenizer->encode_special(text);
    REQUIRE(tokens.ok());
    CHECK(*tokens == expected(line, "special"));
    CHECK(tokenizer->decode(*tokens, true) == text);
    with_control += line.contains("special");
  }
  CHECK(with_control > 100);
}

}  // namespace thinkd::engine
