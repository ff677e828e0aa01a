#pragma once
// The chat template that a model file carries: Jinja source turned into prompt text.
//
// A ChatTemplate is a parsed template of the Jinja subset that published models use, with the
// meaning that transformers gives it: immutable sandbox, trim_blocks, lstrip_blocks, loop controls,
// raise_exception, strftime_now, and tojson without HTML escapes. A construct outside the subset is
// an error at parse time that names it and its line; what only a value decides is an error at
// render time.
//
// Template text is hostile input: source, nesting, steps (work and memory) and output are bounded
// by limits::kTemplate*. Each byte that came from a message is known as such in the output, through
// every string operation, so that text of a user never becomes a control token. Numbers computed
// from user text (a length, an int) are not marked.
//
// Immutable after parse, cheap to copy, safe to render from many threads at once. Nothing throws.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/tokenizer/text_span.h"

namespace thinkd::engine {

struct Message {
  std::string role;     // UTF-8
  std::string content;  // UTF-8
};

struct RenderedText {
  std::string text;
  std::vector<TextSpan> user_spans;  // sorted, apart, not empty: the bytes that messages supplied
};

// What strftime_now prints: always this moment, never the clock, so that a prompt can be replayed.
struct TemplateDate {
  int32_t year = 2024;
  uint32_t month = 7;  // 1..12
  uint32_t day = 26;   // 1..31
  uint32_t hour = 0;
  uint32_t minute = 0;
  uint32_t second = 0;
};

struct RenderOptions {
  bool add_generation_prompt = true;
  std::string bos_token;  // as text; empty where the model has none
  std::string eos_token;
  TemplateDate date;
  std::vector<std::pair<std::string, bool>> flags;  // further variables, e.g. enable_thinking
};

namespace chat {
struct Template;
}

class ChatTemplate {
 public:
  static Result<ChatTemplate> parse(std::string_view source);

  // Errors: invalid (raise_exception, a type error, an undefined value used, text that is not
  // UTF-8), limit (steps, depth, output), unavailable (Python behaviour outside the subset).
  Result<RenderedText> render(std::span<const Message> messages,
                              const RenderOptions& options) const;

 private:
  explicit ChatTemplate(std::shared_ptr<const chat::Template> root) : root_(std::move(root)) {}

  std::shared_ptr<const chat::Template> root_;
};

}  // namespace thinkd::engine
