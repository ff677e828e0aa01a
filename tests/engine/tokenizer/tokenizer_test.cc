// Round trips, and lengths that break quadratic tokenizers.

#include "engine/tokenizer/tokenizer.h"

#include <random>
#include <thread>

#include "tests/engine/tokenizer/smollm2.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

constexpr const char* kNames[] = {"smollm", "llama-bpe", "qwen2", "gpt-2"};

std::string random_bytes(std::mt19937_64& random) {
  std::string text(random() % 64, '\0');
  const bool near_utf8 = random() % 2 == 0;
  for (char& byte : text) {
    constexpr uint8_t kNear[] = {'a',  '0',  ' ',  '\n', '\'', 0xC3,
                                 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F};
    byte = static_cast<char>(near_utf8 ? kNear[random() % std::size(kNear)] : random() % 256);
  }
  return text;
}

}  // namespace

TEST_CASE("decode of encode is the text, on 10,000 random byte strings") {
  const uint64_t seed = 23;
  CAPTURE(seed);
  for (const char* name : kNames) {
    const auto tokenizer = make_tokenizer(smollm2_spec_with_all_bytes(name));
    std::mt19937_64 random(seed);
    for (int round = 0; round < 2'500; ++round) {
      const std::string text = random_bytes(random);
      const Result<std::vector<Token>> tokens = tokenizer->encode(text);
      REQUIRE(tokens.ok());
      CHECK(tokenizer->decode(*tokens, true) == text);
      CHECK(tokenizer->decode(*tokens, false) == text);
    }
  }
}

TEST_CASE("with the real vocabulary each text round-trips or names a byte that it lacks") {
  const uint64_t seed = 29;
  CAPTURE(seed);
  const auto tokenizer = make_tokenizer(smollm2_spec("smollm"));
  std::mt19937_64 random(seed);
  size_t refused = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::string text = random_bytes(random);
    const Result<std::vector<Token>> tokens = tokenizer->encode_special(text);
    if (tokens.ok()) {
      CHECK(tokenizer->decode(*tokens, true) == text);
    } else {
      ++refused;
      CHECK_THAT(tokens.status().message(), Contains("has no token"));
    }
  }
  CHECK(refused > 0);
  CHECK(refused < 1'500);
}

TEST_CASE("long runs of anything are no slower than text") {
  std::string words;
  while (words.size() < 100'000) {
    words += "\u4E2Da1 '\n";
  }
  const std::string texts[] = {std::string(100'000, 'a'),
                               std::string(100'000, ' '),
                               std::string(100'000, '\n'),
                               std::string(100'000, '<'),
                               std::string(100'000, '7'),
                               std::string(100'000, '\''),
                               std::string(50'000, ' ') + "x" + std::string(50'000, '\r'),
                               words};
  for (const char* name : kNames) {
    const auto tokenizer = make_tokenizer(smollm2_spec(name));
    for (const std::string& text : texts) {
      const Result<std::vector<Token>> tokens = tokenizer->encode_special(text);
      REQUIRE(tokens.ok());
      CHECK(tokenizer->decode(*tokens, true) == text);
    }
  }
}

TEST_CASE("threads share one tokenizer") {
  const auto tokenizer = make_tokenizer(smollm2_spec("llama-bpe"));
  const std::string text = "Natalia has 17 apples and buys 26 more.";
  const std::vector<Token> alone = *tokenizer->encode(text);
  std::vector<std::vector<Token>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<Token>& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        result = *tokenizer->encode(text);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::vector<Token>& result : results) {
    CHECK(result == alone);
  }
}

}  // namespace thinkd::engine
