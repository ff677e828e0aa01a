// Reading parts of values: iteration, attributes, items, containment.

#include <algorithm>

#include "base/text.h"
#include "engine/chat/builtins.h"

namespace thinkd::engine::chat {

const Value* Args::get(size_t index, std::string_view name) const {
  if (index < positional.size()) {
    return &positional[index];
  }
  for (const auto& [key, value] : named) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

void Args::allow(std::initializer_list<std::string_view> names, Meter& meter) const {
  if (positional.size() > names.size()) {
    unsupported(meter.line, std::to_string(positional.size()) + " arguments where " +
                                std::to_string(names.size()) + " can be");
  }
  for (const auto& [key, value] : named) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      unsupported(meter.line, "the argument '" + key.substr(0, 60) + "'");
    }
  }
}

const Text& need_text(const Value& value, std::string_view what, Meter& meter) {
  if (const Undefined* missing = value.as<Undefined>()) {
    fail(meter.line, missing->name + " is undefined");
  }
  if (value.text() == nullptr) {
    fail(meter.line, std::string(what) + ": expected str, found " + std::string(type_name(value)));
  }
  return *value.text();
}

int64_t need_int(const Value& value, std::string_view what, Meter& meter) {
  if (!is_integer(value)) {
    fail(meter.line, std::string(what) + ": expected int, found " + std::string(type_name(value)));
  }
  return as_int(value);
}

std::vector<Value> iterate(const Value& value, Meter& meter) {
  std::vector<Value> out;
  if (const List* list = value.list()) {
    meter.spend(list->items.size());
    out = list->items;
  } else if (const Dict* dict = value.dict()) {
    meter.spend(dict->items.size());
    for (const auto& item : dict->items) {
      out.push_back(item.first);
    }
  } else if (const Text* text = value.text()) {
    meter.spend(text->bytes.size());
    for (size_t at = 0; at < text->bytes.size();) {
      size_t end = at + 1;
      while (end < text->bytes.size() &&
             (static_cast<unsigned char>(text->bytes[end]) & 0xc0) == 0x80) {
        ++end;
      }
      TextBuilder one;
      one.append(*text, at, end);
      out.push_back(Value{one.finish()});
      at = end;
    }
  } else if (!value.is<Undefined>()) {
    fail(meter.line, "a " + std::string(type_name(value)) + " cannot be iterated");
  }
  return out;
}

namespace {

bool python_dict_attribute(std::string_view name) {
  static constexpr std::string_view kNames[] = {"clear",      "copy",   "fromkeys", "get",
                                                "items",      "keys",   "pop",      "popitem",
                                                "setdefault", "update", "values"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value character_of(const Text& text, int64_t index, Meter& meter) {
  const auto count = static_cast<int64_t>(count_characters(text.bytes));
  meter.bytes(text.bytes.size());
  index += index < 0 ? count : 0;
  if (index < 0 || index >= count) {
    return undefined("a character past the end of a text");
  }
  size_t at = 0;
  const auto step = [&] {
    ++at;
    while (at < text.bytes.size() && (static_cast<unsigned char>(text.bytes[at]) & 0xc0) == 0x80) {
      ++at;
    }
  };
  while (index-- > 0) {
    step();
  }
  const size_t begin = at;
  step();
  TextBuilder out;
  out.append(text, begin, at);
  return Value{finish(out, meter)};
}

std::string missing(const Value& value, std::string_view name) {
  return "'" + std::string(name.substr(0, 80)) + "' of a " + std::string(type_name(value));
}

}  // namespace

Value attribute_of(const Value& value, std::string_view name, Meter& meter) {
  if (const Undefined* u = value.as<Undefined>()) {
    fail(meter.line, u->name + " is undefined");
  }
  if (const Dict* dict = value.dict()) {
    if (python_dict_attribute(name)) {
      unsupported(meter.line, "the method '" + std::string(name) + "' without a call");
    }
    if (const Value* found = find_key(*dict, name, meter)) {
      return *found;
    }
  } else if (const NamespaceRef* space = value.as<NamespaceRef>()) {
    const auto found = (*space)->attributes.find(name);
    if (found != (*space)->attributes.end()) {
      return found->second;
    }
  } else if (value.is<const Macro*>() || known_method(name)) {
    unsupported(meter.line, "the attribute " + missing(value, name));
  }
  return undefined(missing(value, name));
}

Value item_of(const Value& value, const Value& key, Meter& meter) {
  if (const Undefined* u = value.as<Undefined>()) {
    fail(meter.line, u->name + " is undefined");
  }
  if (const Dict* dict = value.dict()) {
    if (const Value* found = find_key(*dict, key, meter)) {
      return *found;
    }
  }
  if (is_integer(key)) {
    int64_t index = as_int(key);
    if (const List* list = value.list();
        list != nullptr && list->kind != ListKind::view && list->kind != ListKind::generator) {
      const auto size = static_cast<int64_t>(list->items.size());
      index += index < 0 ? size : 0;
      return index >= 0 && index < size ? list->items[static_cast<size_t>(index)]
                                        : undefined("an item past the end of a list");
    }
    if (const Text* text = value.text()) {
      return character_of(*text, index, meter);
    }
  }
  if (const Text* name = key.text()) {
    return attribute_of(value, name->bytes, meter);
  }
  return undefined("an item of a " + std::string(type_name(value)));
}

bool contains(const Value& whole, const Value& part, Meter& meter) {
  if (const Text* text = whole.text()) {
    const Text& needle = need_text(part, "'in' a text", meter);
    return find_text(text->bytes, needle.bytes, 0, meter) != std::string_view::npos;
  }
  if (const Dict* dict = whole.dict()) {
    return find_key(*dict, part, meter) != nullptr;
  }
  if (const List* list = whole.list()) {
    return std::any_of(list->items.begin(), list->items.end(),
                       [&](const Value& item) { return equal(item, part, meter); });
  }
  if (whole.is<Undefined>()) {
    return false;
  }
  fail(meter.line, "'in' needs a container, found " + std::string(type_name(whole)));
}

Value by_path(const Value& value, const Value& path, Meter& meter) {
  if (is_integer(path)) {
    return item_of(value, path, meter);
  }
  Value at = value;
  for (const std::string_view part : split(need_text(path, "attribute", meter).bytes, '.')) {
    meter.spend(1);
    const auto index = parse_int(part);
    at = item_of(at, index ? Value{*index} : make_text(part), meter);
  }
  return at;
}

}  // namespace thinkd::engine::chat
