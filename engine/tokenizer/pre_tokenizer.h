#pragma once
// Cuts text into the words that BPE works on. Hand-written matchers of the published patterns:
//   gpt-2      's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   smollm     each \p{N} alone first; the stretches between them, each on its own, as gpt-2
//   llama-bpe  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
//              | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+      (with ignore_merges)
//   qwen2      as llama-bpe, \p{N} alone, without ignore_merges; no NFC normalisation
// Classes come from unicode.h. A byte that is not part of well-formed UTF-8 is a character of its
// own that is neither letter, number nor space (as U+FFFD is). Linear in the text; thread-safe.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd::engine {

enum class PreTokenizer { gpt2, smollm, llama_bpe, qwen2 };

std::optional<PreTokenizer> find_pre_tokenizer(std::string_view name);
std::string known_pre_tokenizers();  // "gpt-2, llama-bpe, ..."

// Whether a word that is itself a token is taken whole, without merging.
bool ignores_merges(PreTokenizer pre);

// The words in order; end to end they are the text.
std::vector<std::string_view> split_words(PreTokenizer pre, std::string_view text);

}  // namespace thinkd::engine
