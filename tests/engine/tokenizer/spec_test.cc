// What create() refuses, and what it must not refuse.

#include "base/limits.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/engine/tokenizer/smollm2.h"
#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

TokenizerSpec small() {
  TokenizerSpec spec;
  spec.pre = "smollm";
  spec.pieces = {"a", "b", "ab", "<end>"};
  spec.types = {1, 1, 1, 3};
  spec.merges = {"a b"};
  spec.eos = 3;
  return spec;
}

std::string refusal(TokenizerSpec spec) {
  const Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(std::move(spec));
  return tokenizer.ok() ? "accepted" : tokenizer.status().message();
}

}  // namespace

TEST_CASE("a small spec works") {
  const auto tokenizer = make_tokenizer(small());
  CHECK(*tokenizer->encode("abba") == std::vector<Token>{2, 1, 0});
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  CHECK(vocabulary.size() == 4);
  CHECK(vocabulary.eos() == Token{3});
  CHECK(vocabulary.is_end(3));
  CHECK_FALSE(vocabulary.is_end(2));
  CHECK(vocabulary.is_control(3));
  CHECK(vocabulary.find("ab") == Token{2});
  CHECK_FALSE(vocabulary.find("ba"));
  CHECK_FALSE(vocabulary.add_bos());
  CHECK(vocabulary.bytes(99).empty());
  CHECK_FALSE(vocabulary.is_control(99));
}

TEST_CASE("a byte without a token is named") {
  const auto tokenizer = make_tokenizer(small());
  const Result<std::vector<Token>> tokens = tokenizer->encode("ab\xFF");
  REQUIRE_FALSE(tokens.ok());
  CHECK(tokens.status().message() == "byte 0xFF has no token in this model's vocabulary");
}

TEST_CASE("an unknown pre-tokenizer is an error that names the known ones") {
  TokenizerSpec spec = small();
  spec.pre = "llama-spm\n";
  CHECK_THAT(refusal(spec), Contains("'llama-spm\\x0a' is not known"));
  CHECK_THAT(refusal(spec), Contains("gpt-2, llama-bpe, qwen2, smollm"));
  spec.pre = "";
  CHECK_THAT(refusal(spec), Contains("'' is not known"));
}

TEST_CASE("bad specs are refused by name") {
  TokenizerSpec spec = small();
  SECTION("model") {
    spec.model = "llama";
    CHECK_THAT(refusal(spec), Contains("'llama' is not known, only gpt2"));
  }
  SECTION("no pieces") {
    spec.pieces.clear();
    CHECK_THAT(refusal(spec), Contains("no pieces"));
  }
  SECTION("types of another length") {
    spec.types.pop_back();
    CHECK_THAT(refusal(spec), Contains("4 pieces but 3 token types"));
  }
  SECTION("unknown type") {
    spec.types[1] = 7;
    CHECK_THAT(refusal(spec), Contains("token 1 has type 7"));
  }
  SECTION("long piece") {
    spec.pieces[2].assign(limits::kTokenPieceBytes + 1, 'x');
    CHECK_THAT(refusal(spec), Contains("token 2 has 1025 bytes, the limit is 1024"));
  }
  SECTION("ids past the end") {
    spec.bos = 4;
    CHECK_THAT(refusal(spec), Contains("bos token 4 is past the vocabulary of 4"));
    spec.bos.reset();
    spec.eos = 1000;
    CHECK_THAT(refusal(spec), Contains("eos token 1000"));
    spec.eos.reset();
    spec.eot = UINT32_MAX;
    CHECK_THAT(refusal(spec), Contains("eot token 4294967295"));
  }
  SECTION("merges that are not two pieces") {
    for (const std::string bad : {"", " ", "ab", "a ", " b", "a  b", "a b "}) {
      spec.merges = {"a b", bad};
      CHECK_THAT(refusal(spec), Contains("merge 1 '" + bad + "' is not two pieces"));
    }
  }
  SECTION("merges of unknown pieces") {
    spec.merges = {"a c"};
    CHECK_THAT(refusal(spec), Contains("merge 0 'a c': the vocabulary has no piece 'c'"));
    spec.merges = {"a b", "b a"};
    CHECK_THAT(refusal(spec), Contains("merge 1 'b a': the vocabulary has no piece 'ba'"));
  }
}

TEST_CASE("what real files hold is accepted") {
  TokenizerSpec spec = small();
  SECTION("no types, no merges, no ids") {
    spec.types.clear();
    spec.merges.clear();
    spec.eos.reset();
    CHECK(refusal(spec) == "accepted");
  }
  SECTION("pieces spelled alike: the lowest id is used, both decode") {
    spec.pieces.insert(spec.pieces.end(), {"a", "ab"});
    spec.types.insert(spec.types.end(), {1, 1});
    const auto tokenizer = make_tokenizer(spec);
    CHECK(*tokenizer->encode("aba") == std::vector<Token>{2, 0});
    CHECK(tokenizer->decode(std::vector<Token>{4, 5}, false) == "aab");
  }
  SECTION("empty pieces, odd pieces and unused ones") {
    spec.pieces.insert(spec.pieces.end(), {"", "[PAD7]", "\u4E2D", "\xFF", std::string(1024, 'y')});
    spec.types.insert(spec.types.end(), {3, 5, 1, 1, 1});
    const auto tokenizer = make_tokenizer(spec);
    CHECK(tokenizer->decode(std::vector<Token>{4, 5, 6, 7}, true) == "[PAD7]\u4E2D\xFF");
    CHECK(*tokenizer->encode_special("ab") == std::vector<Token>{2});
  }
  SECTION("byte tokens stand in for bytes that no piece spells") {
    spec.pieces.insert(spec.pieces.end(), {"<0xFF>", "<0x61>"});
    spec.types.insert(spec.types.end(), {6, 6});
    const auto tokenizer = make_tokenizer(spec);
    CHECK(*tokenizer->encode("a\xFF") == std::vector<Token>{0, 4});
    CHECK(tokenizer->decode(std::vector<Token>{0, 4, 5}, false) ==
          "a\xFF"
          "a");
  }
}

TEST_CASE("the real vocabulary reads as its file says") {
  const auto tokenizer = make_tokenizer(smollm2_spec("smollm"));
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  CHECK(vocabulary.size() == 49'152);
  CHECK(vocabulary.bytes(2) == "<|im_end|>");
  CHECK(vocabulary.is_end(2));
  CHECK(vocabulary.is_control(16));
  CHECK_FALSE(vocabulary.is_control(17));
  CHECK(vocabulary.bytes(252) == " t");
  CHECK(vocabulary.piece(252) == "\u0120t");
  CHECK(vocabulary.find("<|im_start|>") == vocabulary.bos());
}

}  // namespace thinkd::engine
