#include "engine/tokenizer/special_tokens.h"

#include <algorithm>
#include <tuple>

#include "engine/tokenizer/vocabulary.h"

namespace thinkd::engine {

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary) {
  for (Token token = 0; token < vocabulary.size(); ++token) {
    const bool control = vocabulary.is_control(token);
    const std::string_view text = vocabulary.bytes(token);
    if (text.empty() || !(control || vocabulary.type(token) == TokenType::user_defined)) {
      continue;
    }
    entries_.push_back({text, token, control});
    starts_[static_cast<uint8_t>(text[0])] = true;
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.text, a.token) < std::tie(b.text, b.token);
  });
}

std::optional<Token> SpecialTokens::match(std::string_view text, size_t control_bytes) const {
  if (text.empty() || !starts_[static_cast<uint8_t>(text[0])]) {
    return std::nullopt;
  }
  // [low, high) holds the entries that start with the first `length` bytes of the text; those that
  // end there come first.
  auto low = entries_.begin();
  auto high = entries_.end();
  std::optional<Token> longest;
  for (size_t length = 1; length <= text.size() && low != high; ++length) {
    const auto wanted = static_cast<uint8_t>(text[length - 1]);
    const auto byte_at = [&](const Entry& entry) {
      return entry.text.size() < length ? -1 : int{static_cast<uint8_t>(entry.text[length - 1])};
    };
    low = std::partition_point(low, high, [&](const Entry& e) { return byte_at(e) < wanted; });
    high = std::partition_point(low, high, [&](const Entry& e) { return byte_at(e) == wanted; });
    for (auto entry = low; entry != high && entry->text.size() == length; ++entry) {
      if (!entry->control || length <= control_bytes) {
        longest = entry->token;
        break;
      }
    }
  }
  return longest;
}

}  // namespace thinkd::engine
