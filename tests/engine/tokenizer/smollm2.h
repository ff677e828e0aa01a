#pragma once
// A real vocabulary for tests: SmolLM2's, from tests/data/tokenizer/smollm2.vocab.

#include <memory>
#include <string>

#include "engine/tokenizer/tokenizer.h"

namespace thinkd::engine {

TokenizerSpec smollm2_spec(const std::string& pre);

// The same with a token for each of the 21 bytes that the real one lacks.
TokenizerSpec smollm2_spec_with_all_bytes(const std::string& pre);

// Requires that the spec is right.
std::unique_ptr<Tokenizer> make_tokenizer(TokenizerSpec spec);

}  // namespace thinkd::engine
