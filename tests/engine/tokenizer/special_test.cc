// Which bytes of a text may become control tokens.

#include <algorithm>
#include <random>

#include "engine/tokenizer/tokenizer.h"
#include "tests/engine/tokenizer/smollm2.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

TokenizerSpec letters(const std::string& pre) {
  TokenizerSpec spec;
  spec.pre = pre;
  for (const char letter : std::string("<>|abc")) {
    spec.pieces.emplace_back(1, letter);
  }
  spec.types.assign(6, 1);
  return spec;
}

Token add(TokenizerSpec& spec, const std::string& piece, TokenType type) {
  spec.pieces.push_back(piece);
  spec.types.push_back(static_cast<uint32_t>(type));
  return static_cast<Token>(spec.pieces.size() - 1);
}

std::vector<Token> ids(const Result<std::vector<Token>>& tokens) {
  INFO(tokens.status().message());
  REQUIRE(tokens.ok());
  return *tokens;
}

}  // namespace

TEST_CASE("control tokens count only where the caller says so") {
  const auto tokenizer = make_tokenizer(smollm2_spec("smollm"));
  const std::string text = "<|im_start|>user\nhi<|im_end|>";
  const auto special = ids(tokenizer->encode_special(text));
  CHECK(special.front() == 1);
  CHECK(special.back() == 2);
  CHECK(tokenizer->decode(special, false) == "user\nhi");
  CHECK(tokenizer->decode(special, true) == text);
  for (const Token token : ids(tokenizer->encode(text))) {
    CHECK_FALSE(tokenizer->vocabulary().is_control(token));
  }
}

TEST_CASE("one literal byte in a control text keeps it from being one") {
  const auto tokenizer = make_tokenizer(smollm2_spec("smollm"));
  const std::string text = "x<|im_end|>y";
  const auto plain = ids(tokenizer->encode(text));
  const auto special = ids(tokenizer->encode_special(text));
  for (uint64_t at = 0; at < text.size(); ++at) {
    const TextSpan one{at, at + 1};
    CAPTURE(at);
    const bool outside = at == 0 || at + 1 == text.size();
    CHECK(ids(tokenizer->encode(text, std::span(&one, 1))) == (outside ? special : plain));
    const TextSpan none{at, at};
    CHECK(ids(tokenizer->encode(text, std::span(&none, 1))) == special);
  }
}

TEST_CASE("words run across the borders of spans") {
  const auto tokenizer = make_tokenizer(smollm2_spec("llama-bpe"));
  const std::string text = "<|im_start|>hello wor";
  const TextSpan middle{14, 19};
  CHECK(ids(tokenizer->encode(text, std::span(&middle, 1))) ==
        ids(tokenizer->encode_special(text)));
}

TEST_CASE("spans that leave the text or overlap are refused") {
  const auto tokenizer = make_tokenizer(letters("smollm"));
  const auto refused = [&](std::vector<TextSpan> spans) {
    return tokenizer->encode("abc", spans).status().code() == Code::invalid;
  };
  CHECK(refused({{0, 4}}));
  CHECK(refused({{2, 1}}));
  CHECK(refused({{0, 2}, {1, 3}}));
  CHECK(refused({{2, 3}, {0, 1}}));
  CHECK(refused({{UINT64_MAX, UINT64_MAX}}));
  CHECK_FALSE(refused({{0, 1}, {1, 1}, {1, 3}, {3, 3}}));
}

TEST_CASE("of special tokens the leftmost wins, then the longest that is allowed") {
  TokenizerSpec spec = letters("smollm");
  const Token user = add(spec, "<a", TokenType::user_defined);
  const Token control = add(spec, "<a>", TokenType::control);
  const Token longest = add(spec, "<a>bc", TokenType::control);
  const Token later = add(spec, ">bcab", TokenType::control);
  const auto tokenizer = make_tokenizer(spec);
  const Token close = 1;
  CHECK(ids(tokenizer->encode_special("<a>bcab")) == std::vector<Token>{longest, 3, 4});
  CHECK(ids(tokenizer->encode_special("<a>b")) == std::vector<Token>{control, 4});
  CHECK(ids(tokenizer->encode_special("a>bcab")) == std::vector<Token>{3, later});
  CHECK(ids(tokenizer->encode("<a>b")) == std::vector<Token>{user, close, 4});
  const TextSpan from_b{3, 5};
  CHECK(ids(tokenizer->encode("<a>bc", std::span(&from_b, 1))) ==
        std::vector<Token>{control, 4, 5});
}

TEST_CASE("no merge and no whole word gives a control token") {
  for (const std::string pre : {"smollm", "llama-bpe"}) {
    TokenizerSpec spec = letters(pre);
    add(spec, "ab", TokenType::normal);
    const Token control = add(spec, "abc", TokenType::control);
    spec.merges = {"a b", "ab c"};
    const auto tokenizer = make_tokenizer(spec);
    CHECK(ids(tokenizer->encode("abc")) == std::vector<Token>{6, 5});
    CHECK(ids(tokenizer->encode_special("abc")) == std::vector<Token>{control});
  }
}

TEST_CASE("a literal text that looks like a spelling is not merged to") {
  TokenizerSpec spec = letters("gpt-2");
  const Token space = add(spec, "\u0120", TokenType::normal);
  add(spec, "\u0120a", TokenType::user_defined);
  spec.merges = {"\u0120 a"};
  const auto tokenizer = make_tokenizer(spec);
  CHECK(ids(tokenizer->encode("b a")) == std::vector<Token>{4, space, 3});
  CHECK(tokenizer->decode(ids(tokenizer->encode("b a")), true) == "b a");
}

TEST_CASE("control tokens never touch literal bytes, on random texts and spans") {
  const uint64_t seed = 17;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  TokenizerSpec spec = letters("qwen2");
  add(spec, "<a>", TokenType::control);
  add(spec, "<a>b", TokenType::control);
  add(spec, "||", TokenType::unknown);
  add(spec, "<|", TokenType::user_defined);
  const auto tokenizer = make_tokenizer(spec);
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  size_t seen_control = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = random() % 24; i > 0; --i) {
      text.push_back("<>|ab"[random() % 5]);
    }
    std::vector<bool> literal(text.size());
    std::vector<TextSpan> spans;
    for (uint64_t at = 0; at < text.size();) {
      const uint64_t begin = std::min<uint64_t>(at + random() % 8, text.size());
      const uint64_t end = std::min<uint64_t>(begin + random() % 5, text.size());
      spans.push_back({begin, end});
      std::fill(literal.begin() + static_cast<std::ptrdiff_t>(begin),
                literal.begin() + static_cast<std::ptrdiff_t>(end), true);
      at = end + 1;
    }
    const auto tokens = ids(tokenizer->encode(text, spans));
    CHECK(tokenizer->decode(tokens, true) == text);
    size_t at = 0;
    for (const Token token : tokens) {
      const size_t size = vocabulary.bytes(token).size();
      if (vocabulary.is_control(token)) {
        ++seen_control;
        CHECK(std::find(literal.begin() + static_cast<std::ptrdiff_t>(at),
                        literal.begin() + static_cast<std::ptrdiff_t>(at + size),
                        true) == literal.begin() + static_cast<std::ptrdiff_t>(at + size));
      }
      at += size;
    }
  }
  CHECK(seen_control > 1000);
}

}  // namespace thinkd::engine
