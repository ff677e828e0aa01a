#pragma once
// The part of a model file that turns text into tokens and back: the tokenizer and the chat
// template.
//
// Errors: those of the two parsers, each under the name of the part; corrupt where the tokenizer
// knows more tokens than the embedding has rows. Pure function of the file.

#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.h"
#include "engine/chat/chat_template.h"
#include "engine/model/gguf.h"
#include "engine/tokenizer/tokenizer.h"

namespace thinkd::engine {

struct ModelWords {
  std::unique_ptr<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chat_template;  // none: the file has none
};

// `vocabulary`: rows of the embedding.
Result<ModelWords> read_words(const GgufFile& file, uint32_t vocabulary);

}  // namespace thinkd::engine
