#pragma once
// Text to tokens and back, by byte-level BPE (Sennrich, Haddow, Birch, ACL 2016; bytes as in GPT-2,
// Radford et al. 2019). Immutable after create(); every method may be called by any number of
// threads at once.
//
// Which stretch of a text becomes what:
//   1. Special tokens are cut out first, the leftmost match, of those the longest. User-defined
//      tokens are recognised everywhere, as model makers mean them; control tokens only where the
//      caller's method allows it.
//   2. Each stretch between special tokens is cut into words by the pre-tokenizer.
//   3. In each word, neighbours merge by rank, lowest first, leftmost first. An ignore_merges
//      pre-tokenizer first looks for a token that is the whole word.
//
// No merge and no whole word ever gives a control token, whatever the file says. Nothing is
// normalised: decode(encode(x), true) = x for any bytes x, UTF-8 or not. Tokens of bos and eos are
// not added; vocabulary().add_bos() tells the caller. A byte that no token stands for (vocabularies
// of real models lack some) is an error that names it, never a silent loss.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/tokenizer/text_span.h"
#include "engine/tokenizer/token.h"
#include "engine/tokenizer/tokenizer_spec.h"
#include "engine/tokenizer/vocabulary.h"

namespace thinkd::engine {

class Tokenizer {
  struct Parts;

 public:
  // Checks everything in the spec. Errors: those of Vocabulary::create, a model other than "gpt2",
  // an unknown pre-tokenizer (the text lists the known ones), a merge that is not two pieces with
  // one space between them or that names or makes a piece that is not in the vocabulary.
  static Result<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);
  explicit Tokenizer(std::unique_ptr<const Parts> parts);  // what create() checked
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const Vocabulary& vocabulary() const;

  // All of the text is literal: control tokens written in it are plain text.
  Result<std::vector<Token>> encode(std::string_view text) const;

  // Control tokens written in the text count as such.
  Result<std::vector<Token>> encode_special(std::string_view text) const;

  // Control tokens count as such where they touch no literal byte. Text between special tokens is
  // cut into words as one run, whatever spans begin or end in it. Spans are sorted, do not overlap
  // and lie in the text, or it is an error; empty ones are allowed.
  Result<std::vector<Token>> encode(std::string_view text,
                                    std::span<const TextSpan> literal_spans) const;

  // The bytes of the tokens, end to end; control tokens give their text if `special`, else nothing.
  // Tokens may end inside a character.
  std::string decode(std::span<const Token> tokens, bool special) const;

 private:
  std::unique_ptr<const Parts> parts_;
};

}  // namespace thinkd::engine
