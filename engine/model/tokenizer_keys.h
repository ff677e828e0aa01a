#pragma once
// What a model file says of its tokenizer (tokenizer.ggml.*), as it stands there: Tokenizer::create
// checks the rest.

#include "base/status.h"
#include "engine/model/gguf.h"
#include "engine/tokenizer/tokenizer_spec.h"

namespace thinkd::engine {

// Errors: corrupt (a key missing or of the wrong type, named), unavailable (a tokenizer other than
// byte-level BPE). A file that does not say whether prompts begin with bos gets what its
// pre-tokenizer's makers meant: llama-bpe does, the others do not.
Result<TokenizerSpec> read_tokenizer_spec(const GgufFile& file);

}  // namespace thinkd::engine
