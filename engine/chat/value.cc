#include "engine/chat/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/limits.h"

namespace thinkd::engine::chat {

void fail(uint32_t line, const std::string& what) {
  throw TemplateError{invalid("chat template line " + std::to_string(line) + ": " + what)};
}

void fail_limit(uint32_t line, const std::string& what) {
  throw TemplateError{over_limit("chat template line " + std::to_string(line) + ": " + what)};
}

void unsupported(uint32_t line, const std::string& what) {
  throw TemplateError{
      unavailable("chat template line " + std::to_string(line) + ": unsupported: " + what)};
}

void Meter::spend(uint64_t count) {
  steps += count;
  if (steps > limits::kTemplateSteps) {
    fail_limit(line, "more than " + std::to_string(limits::kTemplateSteps) + " steps");
  }
}

void TextBuilder::append(std::string_view bytes, bool from_user) {
  const uint64_t at = text_.bytes.size();
  text_.bytes.append(bytes);
  if (!from_user || bytes.empty()) {
    return;
  }
  if (!text_.user.empty() && text_.user.back().end == at) {
    text_.user.back().end += bytes.size();
  } else {
    text_.user.push_back({at, at + bytes.size()});
  }
}

void TextBuilder::append(const Text& source, uint64_t begin, uint64_t end) {
  auto span = std::partition_point(source.user.begin(), source.user.end(),
                                   [&](const TextSpan& s) { return s.end <= begin; });
  const std::string_view bytes = source.bytes;
  uint64_t at = begin;
  for (; span != source.user.end() && span->begin < end; ++span) {
    const uint64_t first = std::max(span->begin, begin);
    const uint64_t last = std::min(span->end, end);
    append(bytes.substr(at, first - at), false);
    append(bytes.substr(first, last - first), true);
    at = last;
  }
  append(bytes.substr(at, end - at), false);
}

bool is_user_byte(const Text& text, uint64_t at) {
  auto span = std::partition_point(text.user.begin(), text.user.end(),
                                   [&](const TextSpan& s) { return s.end <= at; });
  return span != text.user.end() && span->begin <= at;
}

Value undefined(std::string name) { return Value{Undefined{std::move(name)}}; }

Value make_text(std::string_view bytes, bool from_user) {
  TextBuilder builder;
  builder.append(bytes, from_user);
  return Value{builder.finish()};
}

namespace {

uint32_t depth_of(const Value& value, uint32_t line) {
  if (value.is<NamespaceRef>() || value.is<const Macro*>()) {
    unsupported(line, "a namespace or a macro inside a list or a dict");
  }
  if (const List* list = value.list()) {
    return list->depth;
  }
  if (const Dict* dict = value.dict()) {
    return dict->depth;
  }
  return 0;
}

void check_depth(uint32_t depth, uint32_t line) {
  if (depth > limits::kTemplateDepth) {
    fail_limit(line, "values nested " + std::to_string(depth) + " deep, limit " +
                         std::to_string(limits::kTemplateDepth));
  }
}

}  // namespace

Value make_list(std::vector<Value> items, ListKind kind, uint32_t line) {
  List list;
  for (const Value& item : items) {
    list.depth = std::max(list.depth, depth_of(item, line) + 1);
  }
  check_depth(list.depth, line);
  list.kind = kind;
  list.items = std::move(items);
  return Value{std::make_shared<const List>(std::move(list))};
}

Value make_dict(std::vector<std::pair<Value, Value>> items, Meter& meter) {
  const uint32_t line = meter.line;
  Dict dict;
  for (auto& [key, value] : items) {
    if (!key.is<None>() && !is_number(key) && key.text() == nullptr) {
      unsupported(line, "a dict key of type " + std::string(type_name(key)));
    }
    dict.depth = std::max(dict.depth, depth_of(value, line) + 1);
    auto same = std::find_if(dict.items.begin(), dict.items.end(),
                             [&](const auto& other) { return equal(other.first, key, meter); });
    if (same != dict.items.end()) {
      same->second = std::move(value);
    } else {
      dict.items.emplace_back(std::move(key), std::move(value));
    }
  }
  check_depth(dict.depth, line);
  return Value{std::make_shared<const Dict>(std::move(dict))};
}

const Value* find_key(const Dict& dict, const Value& key, Meter& meter) {
  for (const auto& [name, value] : dict.items) {
    if (equal(name, key, meter)) {
      return &value;
    }
  }
  return nullptr;
}

const Value* find_key(const Dict& dict, std::string_view key, Meter& meter) {
  meter.spend(dict.items.size());
  for (const auto& [name, value] : dict.items) {
    if (name.text() != nullptr && name.text()->bytes == key) {
      return &value;
    }
  }
  return nullptr;
}

std::string_view type_name(const Value& value) {
  static constexpr std::string_view kNames[] = {"undefined", "None", "bool", "int",       "float",
                                                "str",       "list", "dict", "namespace", "macro"};
  if (const List* list = value.list(); list != nullptr && list->kind == ListKind::tuple) {
    return "tuple";
  }
  return kNames[value.data.index()];
}

bool truthy(const Value& value) {
  if (const bool* b = value.as<bool>()) {
    return *b;
  }
  if (const int64_t* i = value.as<int64_t>()) {
    return *i != 0;
  }
  if (const double* d = value.as<double>()) {
    return *d != 0;
  }
  if (const Text* text = value.text()) {
    return !text->bytes.empty();
  }
  if (const List* list = value.list()) {
    return list->kind == ListKind::generator || !list->items.empty();
  }
  if (const Dict* dict = value.dict()) {
    return !dict->items.empty();
  }
  return !value.is<Undefined>() && !value.is<None>();
}

bool is_integer(const Value& value) { return value.is<bool>() || value.is<int64_t>(); }

bool is_number(const Value& value) { return is_integer(value) || value.is<double>(); }

int64_t as_int(const Value& value) {
  const bool* b = value.as<bool>();
  return b != nullptr ? int64_t{*b} : std::get<int64_t>(value.data);
}

double as_double(const Value& value) {
  const double* d = value.as<double>();
  return d != nullptr ? *d : static_cast<double>(as_int(value));
}

bool equal(const Value& a, const Value& b, Meter& meter) {
  meter.spend(1);
  if (is_number(a) && is_number(b)) {
    return is_integer(a) && is_integer(b) ? as_int(a) == as_int(b) : as_double(a) == as_double(b);
  }
  if (a.data.index() != b.data.index()) {
    return false;
  }
  if (a.is<Undefined>() || a.is<None>()) {
    return true;
  }
  if (const Text* text = a.text()) {
    meter.bytes(text->bytes.size() == b.text()->bytes.size() ? text->bytes.size() : 0);
    return text->bytes == b.text()->bytes;
  }
  if (const List* list = a.list()) {
    const List* other = b.list();
    return list == other ||
           (list->kind == other->kind && list->kind != ListKind::generator &&
            std::equal(list->items.begin(), list->items.end(), other->items.begin(),
                       other->items.end(),
                       [&](const Value& x, const Value& y) { return equal(x, y, meter); }));
  }
  if (const Dict* dict = a.dict()) {
    const Dict* other = b.dict();
    return dict->items.size() == other->items.size() &&
           std::all_of(dict->items.begin(), dict->items.end(), [&](const auto& item) {
             const Value* match = find_key(*other, item.first, meter);
             return match != nullptr && equal(item.second, *match, meter);
           });
  }
  if (const NamespaceRef* space = a.as<NamespaceRef>()) {
    return *space == *b.as<NamespaceRef>();
  }
  return *a.as<const Macro*>() == *b.as<const Macro*>();
}

int compare(const Value& a, const Value& b, Meter& meter) {
  const uint32_t line = meter.line;
  if (is_number(a) && is_number(b)) {
    if (is_integer(a) && is_integer(b)) {
      return as_int(a) < as_int(b) ? -1 : as_int(a) > as_int(b) ? 1 : 0;
    }
    return as_double(a) < as_double(b) ? -1 : as_double(a) > as_double(b) ? 1 : 0;
  }
  if (a.text() != nullptr && b.text() != nullptr) {
    meter.bytes(std::min(a.text()->bytes.size(), b.text()->bytes.size()));
    const int order = a.text()->bytes.compare(b.text()->bytes);
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (a.is<Undefined>() || b.is<Undefined>()) {
    const Undefined* u = a.is<Undefined>() ? a.as<Undefined>() : b.as<Undefined>();
    fail(line, u->name + " is undefined");
  }
  fail(line, "no order between " + std::string(type_name(a)) + " and " + std::string(type_name(b)));
}

std::string float_repr(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  const double size = std::fabs(value);
  // Python writes exponents from 1e16 up and below 1e-4.
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (plain && text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

TextRef to_str(const Value& value, uint32_t line) {
  if (const TextRef* text = value.as<TextRef>()) {
    return *text;
  }
  TextBuilder builder;
  if (value.is<Undefined>()) {
    return builder.finish();
  }
  if (value.is<None>()) {
    builder.append("None");
  } else if (const bool* b = value.as<bool>()) {
    builder.append(*b ? "True" : "False");
  } else if (const int64_t* i = value.as<int64_t>()) {
    builder.append(std::to_string(*i));
  } else if (const double* d = value.as<double>()) {
    builder.append(float_repr(*d));
  } else {
    unsupported(line, "printing a " + std::string(type_name(value)));
  }
  return builder.finish();
}

}  // namespace thinkd::engine::chat
