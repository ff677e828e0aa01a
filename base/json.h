#pragma once
// JSON from outside, read strictly: at most limits::kJsonDepth deep and limits::kJsonMembers
// members an object, no doubled keys, no number that a double or a 64-bit integer would round to
// something else in kind (1e400, 1e-400), valid UTF-8 only. The error names the first thing that is
// wrong: Code::corrupt where the text is not JSON at all (syntax, UTF-8, byte order mark),
// Code::invalid where it is JSON that we refuse (doubled key, number), Code::limit where it is too
// deep or too wide.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thinkd {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

Result<Json> parse_json(std::string_view text);

// Compact text. Bytes that are not UTF-8 (model output may be cut inside a character) become
// U+FFFD.
std::string to_text(const Json& value);
std::string to_text(const OrderedJson& value);

// For an error: at most some 80 bytes of the text, "..." where there is more.
std::string excerpt_of(const Json& value);

}  // namespace thinkd
