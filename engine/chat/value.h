#pragma once
// Values of the template interpreter. A Text is bytes with the ranges that came from messages; each
// operation builds its result through TextBuilder, so that provenance is never lost by accident.
//
// Values are immutable and shared, but for a namespace's attributes. Containers know their depth,
// so that chains built at run time stay below the limit and destroying them does not recurse
// deeply; namespaces and macros are refused inside containers, so that no cycle can form.
//
// Used inside one render call by one thread. Errors inside engine/chat travel as TemplateError and
// become a Status in chat_template.cc: none leaves the folder.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "engine/tokenizer/text_span.h"

namespace thinkd::engine::chat {

struct TemplateError {
  Status status;
};

[[noreturn]] void fail(uint32_t line, const std::string& what);         // Code::invalid
[[noreturn]] void fail_limit(uint32_t line, const std::string& what);   // Code::limit
[[noreturn]] void unsupported(uint32_t line, const std::string& what);  // Code::unavailable

// Counts the work of one render: each evaluated node, each item touched, each 256 bytes made or
// compared. Past limits::kTemplateSteps it throws.
struct Meter {
  uint64_t steps = 0;
  uint32_t line = 1;  // of what is being evaluated, for the error

  void spend(uint64_t count);
  void bytes(uint64_t count) { spend(count / 256 + 1); }
};

struct Text {
  std::string bytes;
  std::vector<TextSpan> user;  // sorted, apart, not empty
  bool markup = false;         // went through `safe`
};
using TextRef = std::shared_ptr<const Text>;

class TextBuilder {
 public:
  void append(std::string_view bytes, bool from_user = false);
  void append(const Text& source, uint64_t begin, uint64_t end);
  void append(const Text& source) { append(source, 0, source.bytes.size()); }
  uint64_t size() const { return text_.bytes.size(); }
  Text& text() { return text_; }
  TextRef finish() { return std::make_shared<const Text>(std::move(text_)); }

 private:
  Text text_;
};

bool is_user_byte(const Text& text, uint64_t at);

struct Value;
struct Macro;

struct Undefined {
  std::string name;  // how an error calls it
};
struct None {};

enum class ListKind : uint8_t { list, tuple, range, view, generator };

struct List {
  std::vector<Value> items;
  ListKind kind = ListKind::list;
  uint32_t depth = 1;
};
using ListRef = std::shared_ptr<const List>;

struct Dict {
  std::vector<std::pair<Value, Value>> items;  // in order of insertion
  uint32_t depth = 1;
};
using DictRef = std::shared_ptr<const Dict>;

struct Namespace {
  std::map<std::string, Value, std::less<>> attributes;
};
using NamespaceRef = std::shared_ptr<Namespace>;

struct Value {
  std::variant<Undefined, None, bool, int64_t, double, TextRef, ListRef, DictRef, NamespaceRef,
               const Macro*>
      data;

  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(data);
  }
  const Text* text() const { return is<TextRef>() ? std::get<TextRef>(data).get() : nullptr; }
  const List* list() const { return is<ListRef>() ? std::get<ListRef>(data).get() : nullptr; }
  const Dict* dict() const { return is<DictRef>() ? std::get<DictRef>(data).get() : nullptr; }
};

Value undefined(std::string name);
Value make_text(std::string_view bytes, bool from_user = false);
Value make_list(std::vector<Value> items, ListKind kind, uint32_t line);
Value make_dict(std::vector<std::pair<Value, Value>> items, Meter& meter);

const Value* find_key(const Dict& dict, const Value& key, Meter& meter);
const Value* find_key(const Dict& dict, std::string_view key, Meter& meter);

std::string_view type_name(const Value& value);  // as Python calls it
bool truthy(const Value& value);
bool is_number(const Value& value);  // bool counts, as in Python
double as_double(const Value& value);
int64_t as_int(const Value& value);   // of a bool or an int
bool is_integer(const Value& value);  // int or bool
bool equal(const Value& a, const Value& b, Meter& meter);
// -1, 0, 1; a TypeError where Python has no order for the two.
int compare(const Value& a, const Value& b, Meter& meter);
std::string float_repr(double value);
// str(value); lists and dicts are unsupported.
TextRef to_str(const Value& value, uint32_t line);

}  // namespace thinkd::engine::chat
