#pragma once
// The filters, tests, string and container methods that templates may call. Names are known at
// parse time; an unknown one is refused there. Meaning: Jinja 3.1 and Python's str, list and dict.
// Throws TemplateError. Work and sizes are charged to the Meter.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/chat/value.h"

namespace thinkd::engine::chat {

struct Args {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // The argument at `index` or called `name`, or null.
  const Value* get(size_t index, std::string_view name) const;
  // At most these, in this order.
  void allow(std::initializer_list<std::string_view> names, Meter& meter) const;
};

bool known_filter(std::string_view name);
bool known_test(std::string_view name);
bool known_method(std::string_view name);

Value call_filter(std::string_view name, const Value& value, const Args& args, Meter& meter);
bool call_test(std::string_view name, const Value& value, const Args& args, Meter& meter);
Value call_method(std::string_view name, const Value& value, const Args& args, Meter& meter);

// Pieces that several of them share.
std::vector<Value> iterate(const Value& value, Meter& meter);
Value attribute_of(const Value& value, std::string_view name, Meter& meter);
Value item_of(const Value& value, const Value& key, Meter& meter);
// What an `attribute` argument names: a dotted path.
Value by_path(const Value& value, const Value& path, Meter& meter);
bool contains(const Value& whole, const Value& part, Meter& meter);
const Text& need_text(const Value& value, std::string_view what, Meter& meter);
int64_t need_int(const Value& value, std::string_view what, Meter& meter);
uint64_t count_characters(std::string_view text);
void check_size(uint64_t bytes, Meter& meter);  // against limits::kTemplateOutputBytes
TextRef finish(TextBuilder& builder, Meter& meter);
// Byte offset of `needle` at or after `from`, or npos; linear time whatever the texts are.
size_t find_text(std::string_view text, std::string_view needle, size_t from, Meter& meter);
TextRef replace_text(const Text& text, const Text& from, const Text& to, int64_t count,
                     Meter& meter);
enum class Side : uint8_t { both, left, right };
TextRef strip_text(const Text& text, const Value* characters, Side side, Meter& meter);
enum class Case : uint8_t { upper, lower, title, capitalize, title_filter };
TextRef change_case(const Text& text, Case how, Meter& meter);
TextRef to_json(const Value& value, const Args& args, Meter& meter);

}  // namespace thinkd::engine::chat
