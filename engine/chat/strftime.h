#pragma once
// The date of strftime_now in the C locale. Codes: a A b B d e H I j m M p S y Y %, and `-` before
// a number for no leading zero. Others are unsupported. Throws TemplateError.

#include <string>
#include <string_view>

#include "engine/chat/chat_template.h"

namespace thinkd::engine::chat {

std::string format_date(std::string_view format, const TemplateDate& date, uint32_t line);

}  // namespace thinkd::engine::chat
