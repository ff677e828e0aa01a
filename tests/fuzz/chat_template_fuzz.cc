// Any text as a chat template, rendered over a short conversation.

#include <string>
#include <vector>

#include "base/limits.h"
#include "engine/chat/chat_template.h"
#include "tests/fuzz/target.h"

using namespace thinkd;
using namespace thinkd::engine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parsed = ChatTemplate::parse(fuzz::text_of(data, size));
  if (!parsed) {
    fuzz::expect(!parsed.status().message().empty(), "a refusal says why");
    return 0;
  }
  const std::vector<Message> messages = {{"system", "Be brief."}, {"user", "2 {{ + }} 2?"}};
  RenderOptions options;
  options.bos_token = "<s>";
  options.eos_token = "</s>";
  options.flags = {{"enable_thinking", true}};
  const auto text = parsed->render(messages, options);
  if (!text) {
    return 0;
  }
  fuzz::expect(text->text.size() <= limits::kTemplateOutputBytes, "the output is bounded");
  uint64_t at = 0;
  for (const TextSpan& span : text->user_spans) {
    fuzz::expect(span.begin >= at && span.end > span.begin && span.end <= text->text.size(),
                 "spans are sorted, apart, not empty and in the text");
    at = span.end;
  }
  return 0;
}
