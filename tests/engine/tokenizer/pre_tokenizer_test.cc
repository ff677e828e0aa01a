#include "engine/tokenizer/pre_tokenizer.h"

#include <random>

#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

using Words = std::vector<std::string_view>;
constexpr PreTokenizer kAll[] = {PreTokenizer::gpt2, PreTokenizer::smollm, PreTokenizer::llama_bpe,
                                 PreTokenizer::qwen2};

}  // namespace

TEST_CASE("numbers are grouped as each family does") {
  CHECK(split_words(PreTokenizer::gpt2, "a 12345") == Words{"a", " 12345"});
  CHECK(split_words(PreTokenizer::smollm, "a  12") == Words{"a", "  ", "1", "2"});
  CHECK(split_words(PreTokenizer::llama_bpe, "a 12345") == Words{"a", " ", "123", "45"});
  CHECK(split_words(PreTokenizer::qwen2, "a 123") == Words{"a", " ", "1", "2", "3"});
}

TEST_CASE("contractions, spaces and line ends are cut as the patterns say") {
  CHECK(split_words(PreTokenizer::gpt2, "We'll I'LL   x ") ==
        Words{"We", "'ll", " I", "'", "LL", "  ", " x", " "});
  CHECK(split_words(PreTokenizer::llama_bpe, "We'll I'LL   x ") ==
        Words{"We", "'ll", " I", "'LL", "  ", " x", " "});
  CHECK(split_words(PreTokenizer::qwen2, "a!\r\n\n \n  b\t(c") ==
        Words{"a", "!\r\n\n", " \n", " ", " b", "\t", "(c"});
  CHECK(split_words(PreTokenizer::gpt2, "a \n b") == Words{"a", " \n", " b"});
  CHECK(split_words(PreTokenizer::llama_bpe, "").empty());
}

TEST_CASE("a byte that is not UTF-8 is a symbol") {
  CHECK(split_words(PreTokenizer::gpt2, "a\xFF\xC3!b") == Words{"a", "\xFF\xC3!", "b"});
  CHECK(split_words(PreTokenizer::llama_bpe, "a\xFF!b") == Words{"a", "\xFF!", "b"});
  CHECK(split_words(PreTokenizer::smollm, "1\xE2\x82") == Words{"1", "\xE2\x82"});
}

TEST_CASE("words end to end are the text") {
  const uint64_t seed = 5;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::string_view parts[] = {"a",      "Z",      "1",    "\u0663", " ", "\n",
                                    "\r",     "\t",     "'",    "'s",     "l", "\u017F",
                                    "\u00A0", "\u3000", "\xFF", "\xE4",   "!", "\u4E00"};
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (size_t i = random() % 30; i > 0; --i) {
      text += parts[random() % std::size(parts)];
    }
    for (const PreTokenizer pre : kAll) {
      std::string joined;
      for (const std::string_view word : split_words(pre, text)) {
        CHECK_FALSE(word.empty());
        joined += word;
      }
      CHECK(joined == text);
    }
  }
}

TEST_CASE("names are known or not") {
  CHECK(find_pre_tokenizer("qwen2") == PreTokenizer::qwen2);
  CHECK_FALSE(find_pre_tokenizer(""));
  CHECK_FALSE(find_pre_tokenizer("default"));
  CHECK(known_pre_tokenizers() == "gpt-2, llama-bpe, qwen2, smollm");
  CHECK(ignores_merges(PreTokenizer::llama_bpe));
  CHECK_FALSE(ignores_merges(PreTokenizer::qwen2));
}

}  // namespace thinkd::engine
