#include "engine/scheduler/extending.h"

#include "base/philox.h"

namespace thinkd::engine {

std::string_view to_string(ExtendEnd end) {
  switch (end) {
    case ExtendEnd::stop_text:
      return "stop_text";
    case ExtendEnd::end_token:
      return "end_token";
    case ExtendEnd::max_tokens:
      return "max_tokens";
    case ExtendEnd::context:
      return "context";
    case ExtendEnd::allowance:
      return "allowance";
    case ExtendEnd::stopped:
      return "stopped";
    case ExtendEnd::bad_logits:
      return "bad_logits";
    case ExtendEnd::flops:
      return "flops";
    case ExtendEnd::dropped:
      return "dropped";
  }
  return "unknown";
}

std::optional<ExtendEnd> Extending::over(uint32_t context) const {
  // A full context is told even where the caller's limit is met by the same token: it is the end.
  if (item_.branch.length() >= context) {
    return ExtendEnd::context;
  }
  if (result_.tokens.size() >= item_.max_tokens) {
    return ExtendEnd::max_tokens;
  }
  return std::nullopt;
}

std::optional<Draw> Extending::recorded() const {
  const size_t at = result_.tokens.size();
  if (!item_.recorded || at >= item_.recorded->tokens.size()) {
    return std::nullopt;
  }
  return Draw{item_.recorded->tokens[at], item_.recorded->logprobs[at]};
}

std::optional<Draw> Extending::draw(std::span<const float> logits) const {
  std::vector<Token> history;
  if (item_.sampling.repetition_penalty != 1.0f) {
    history = item_.branch.tokens(0, item_.branch.length());
  }
  const double number = uniform(item_.key, item_.first_draw + result_.tokens.size());
  return draw_token(logits, item_.sampling, history, number);
}

std::optional<ExtendEnd> Extending::take(const Draw& draw, const Vocabulary& vocabulary,
                                         uint32_t context) {
  const Block* tail = item_.branch.tail().get();
  item_.branch.append({&draw.token, 1});
  grown_ = grown_ || item_.branch.tail().get() != tail;
  result_.tokens.push_back(draw.token);
  result_.logprobs.push_back(draw.logprob);
  if (vocabulary.is_end(draw.token)) {
    return ExtendEnd::end_token;
  }
  if (!vocabulary.is_control(draw.token)) {
    const std::string_view bytes = vocabulary.bytes(draw.token);
    result_.text += bytes;
    if (const auto before_end = item_.matcher.feed(bytes, item_.stops)) {
      const uint64_t size = result_.text.size();
      result_.text.resize(size - std::min(size, *before_end));
      return ExtendEnd::stop_text;
    }
  }
  return over(context);
}

ExtendResult Extending::finish(ExtendEnd end) {
  result_.end = end;
  result_.branch = std::move(item_.branch);
  result_.matcher = std::move(item_.matcher);
  return std::move(result_);
}

}  // namespace thinkd::engine
