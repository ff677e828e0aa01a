#pragma once
// Messages and texts to tokens. Text that a user wrote never becomes a control token. Pure
// functions.

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/model/language_model.h"

namespace thinkd::search {

// Through the model's chat template; a model that has none reads the contents, one a paragraph.
Result<std::vector<engine::Token>> render_messages(const engine::LanguageModel& model,
                                                   std::span<const engine::Message> messages);

// Literal text that starts a branch: after bos, where the model wants it.
Result<std::vector<engine::Token>> start_text(const engine::LanguageModel& model,
                                              std::string_view text);

// The tokens as they are; invalid names one that the vocabulary does not have.
Result<std::vector<engine::Token>> check_tokens(const engine::LanguageModel& model,
                                                std::span<const uint32_t> tokens);

}  // namespace thinkd::search
