#pragma once
// Jinja's filters that compare items with each other: sort, dictsort, unique. They throw
// TemplateError; each comparison is metered.

#include "engine/chat/builtins.h"

namespace thinkd::engine::chat {

Value sort_filter(const Value& value, const Args& args, Meter& meter);
Value dictsort_filter(const Value& value, const Args& args, Meter& meter);
Value unique_filter(const Value& value, const Args& args, Meter& meter);

}  // namespace thinkd::engine::chat
