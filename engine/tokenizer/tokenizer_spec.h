#pragma once
// What a model file says about its tokenizer, as it stands there and not yet checked.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/tokenizer/token.h"

namespace thinkd::engine {

// The token types of GGUF (tokenizer.ggml.token_type).
enum class TokenType : uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6,
};

struct TokenizerSpec {
  std::string model = "gpt2";       // tokenizer.ggml.model; only "gpt2" (byte-level BPE) is known
  std::string pre;                  // tokenizer.ggml.pre, see pre_tokenizer.h
  std::vector<std::string> pieces;  // tokenizer.ggml.tokens, in the spelling of the file
  std::vector<uint32_t> types;      // one a piece, or empty: all normal
  std::vector<std::string> merges;  // "left right", best first
  std::optional<Token> bos;
  std::optional<Token> eos;
  std::optional<Token> eot;
  bool add_bos = false;
};

}  // namespace thinkd::engine
