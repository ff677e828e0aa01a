#include "engine/chat/chat_template.h"

#include "base/limits.h"
#include "base/text.h"
#include "engine/chat/evaluator.h"

namespace thinkd::engine {

using chat::TemplateError;
using chat::Value;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source) {
  if (!valid_utf8(source)) {
    return invalid("chat template: not UTF-8");
  }
  try {
    return ChatTemplate(chat::parse_template(source));
  } catch (const TemplateError& error) {
    return error.status;
  }
}

namespace {

Value message_list(std::span<const Message> messages, chat::Meter& meter) {
  std::vector<Value> items;
  for (const Message& message : messages) {
    items.push_back(
        chat::make_dict({{chat::make_text("role"), chat::make_text(message.role, true)},
                         {chat::make_text("content"), chat::make_text(message.content, true)}},
                        meter));
  }
  return chat::make_list(std::move(items), chat::ListKind::list, 1);
}

}  // namespace

Result<RenderedText> ChatTemplate::render(std::span<const Message> messages,
                                          const RenderOptions& options) const {
  for (size_t i = 0; i < messages.size(); ++i) {
    if (!valid_utf8(messages[i].role) || !valid_utf8(messages[i].content)) {
      return invalid("message " + std::to_string(i) + ": not UTF-8");
    }
  }
  try {
    chat::Evaluator evaluator(options);
    evaluator.define("messages", message_list(messages, evaluator.meter()));
    evaluator.define("add_generation_prompt", Value{options.add_generation_prompt});
    evaluator.define("bos_token", chat::make_text(options.bos_token));
    evaluator.define("eos_token", chat::make_text(options.eos_token));
    evaluator.define("tools", Value{chat::None{}});
    evaluator.define("documents", Value{chat::None{}});
    for (const auto& [name, value] : options.flags) {
      evaluator.define(name, Value{value});
    }
    chat::Text text = evaluator.run(*root_);
    return RenderedText{std::move(text.bytes), std::move(text.user)};
  } catch (const TemplateError& error) {
    return error.status;
  }
}

}  // namespace thinkd::engine
