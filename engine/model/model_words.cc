#include "engine/model/model_words.h"

#include <string>
#include <utility>

#include "engine/model/tokenizer_keys.h"

namespace thinkd::engine {

Result<ModelWords> read_words(const GgufFile& file, uint32_t vocabulary) {
  ModelWords words;
  Result<TokenizerSpec> spec = read_tokenizer_spec(file);
  THINKD_CHECK(spec.status());
  // It may know fewer tokens than the embedding has rows (padding), never more.
  if (spec->pieces.size() > vocabulary) {
    return corrupt("key 'tokenizer.ggml.tokens': " + std::to_string(spec->pieces.size()) +
                   " tokens where the embedding has " + std::to_string(vocabulary) + " rows");
  }
  Result<std::unique_ptr<Tokenizer>> tokenizer = Tokenizer::create(*std::move(spec));
  THINKD_CHECK(tokenizer.status().within("tokenizer"));
  words.tokenizer = *std::move(tokenizer);
  if (file.has("tokenizer.chat_template")) {
    const Result<std::string> source = file.get_text("tokenizer.chat_template");
    THINKD_CHECK(source.status());
    Result<ChatTemplate> parsed = ChatTemplate::parse(*source);
    THINKD_CHECK(parsed.status().within("key 'tokenizer.chat_template'"));
    words.chat_template = *std::move(parsed);
  }
  return words;
}

}  // namespace thinkd::engine
