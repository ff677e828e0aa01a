#include "search/prompt.h"

#include <string>

namespace thinkd::search {
namespace {

std::string piece_of(const engine::Vocabulary& vocabulary, std::optional<engine::Token> token) {
  return token ? std::string(vocabulary.bytes(*token)) : std::string();
}

}  // namespace

Result<std::vector<engine::Token>> render_messages(const engine::LanguageModel& model,
                                                   std::span<const engine::Message> messages) {
  const engine::Vocabulary& vocabulary = model.tokenizer->vocabulary();
  if (!model.chat_template) {
    std::string text;
    for (const engine::Message& message : messages) {
      text += message.content + "\n\n";
    }
    return start_text(model, text);
  }
  engine::RenderOptions options;
  options.bos_token = piece_of(vocabulary, vocabulary.bos());
  options.eos_token = piece_of(vocabulary, vocabulary.eos());
  Result<engine::RenderedText> rendered = model.chat_template->render(messages, options);
  if (!rendered) {
    return rendered.status().within("chat template");
  }
  return model.tokenizer->encode(rendered->text, rendered->user_spans);
}

Result<std::vector<engine::Token>> start_text(const engine::LanguageModel& model,
                                              std::string_view text) {
  Result<std::vector<engine::Token>> tokens = model.tokenizer->encode(text);
  const engine::Vocabulary& vocabulary = model.tokenizer->vocabulary();
  if (tokens && vocabulary.add_bos() && vocabulary.bos()) {
    tokens->insert(tokens->begin(), *vocabulary.bos());
  }
  return tokens;
}

Result<std::vector<engine::Token>> check_tokens(const engine::LanguageModel& model,
                                                std::span<const uint32_t> tokens) {
  const engine::Token size = model.tokenizer->vocabulary().size();
  for (uint32_t token : tokens) {
    if (token >= size) {
      return invalid("token " + std::to_string(token) + " is not in the vocabulary of " +
                     std::to_string(size));
    }
  }
  return std::vector<engine::Token>(tokens.begin(), tokens.end());
}

}  // namespace thinkd::search
