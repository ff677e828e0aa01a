// The methods of str and dict, and the ones that the sandbox forbids.

#include <algorithm>
#include <unordered_map>

#include "engine/chat/builtins.h"
#include "engine/chat/spaces.h"

namespace thinkd::engine::chat {
namespace {

using Method = Value (*)(const Text&, const Args&, Meter&);

Value slice_of(const Text& text, size_t begin, size_t end, Meter& meter) {
  TextBuilder out;
  out.append(text, begin, end);
  return Value{finish(out, meter)};
}

Value split_spaces(const Text& text, int64_t most, Meter& meter) {
  std::vector<Value> out;
  const std::string_view bytes = text.bytes;
  meter.bytes(bytes.size());
  size_t at = skip_spaces(bytes, 0);
  while (at < bytes.size()) {
    size_t end = at;
    if (most == 0) {
      end = end_without_spaces(bytes);
    } else {
      while (end < bytes.size() && space_length(bytes, end) == 0) {
        ++end;
      }
    }
    meter.spend(1);
    out.push_back(slice_of(text, at, end, meter));
    at = skip_spaces(bytes, end);
    --most;
  }
  return make_list(std::move(out), ListKind::list, meter.line);
}

Value split(const Text& text, const Args& args, Meter& meter, bool from_right) {
  args.allow({"sep", "maxsplit"}, meter);
  const Value* separator = args.get(0, "sep");
  const Value* limit = args.get(1, "maxsplit");
  int64_t most = limit == nullptr ? -1 : need_int(*limit, "maxsplit", meter);
  if (separator == nullptr || separator->is<None>()) {
    if (from_right && most >= 0) {
      unsupported(meter.line, "rsplit at white space with a maximum");
    }
    return split_spaces(text, most, meter);
  }
  const Text& mark = need_text(*separator, "split", meter);
  if (mark.bytes.empty()) {
    fail(meter.line, "split: empty separator");
  }
  std::vector<size_t> cuts;
  if (from_right) {
    size_t end = text.bytes.size();
    meter.bytes(end * std::min<size_t>(mark.bytes.size(), 256));
    if (mark.bytes.size() > 256) {
      unsupported(meter.line, "rsplit at a text of more than 256 bytes");
    }
    while (most != 0 && end >= mark.bytes.size()) {
      const size_t found = text.bytes.rfind(mark.bytes, end - mark.bytes.size());
      if (found == std::string::npos) {
        break;
      }
      cuts.push_back(found);
      end = found;
      --most;
    }
    std::reverse(cuts.begin(), cuts.end());
  } else {
    size_t at = 0;
    while (most != 0) {
      const size_t found = find_text(text.bytes, mark.bytes, at, meter);
      if (found == std::string_view::npos) {
        break;
      }
      cuts.push_back(found);
      at = found + mark.bytes.size();
      --most;
    }
  }
  std::vector<Value> out;
  size_t at = 0;
  for (const size_t cut : cuts) {
    out.push_back(slice_of(text, at, cut, meter));
    at = cut + mark.bytes.size();
  }
  out.push_back(slice_of(text, at, text.bytes.size(), meter));
  return make_list(std::move(out), ListKind::list, meter.line);
}

Value strip(const Text& text, const Args& args, Meter& meter, Side side) {
  args.allow({"chars"}, meter);
  return Value{strip_text(text, args.get(0, "chars"), side, meter)};
}

bool matches_end(const Text& text, const Text& part, bool at_start) {
  if (part.bytes.size() > text.bytes.size()) {
    return false;
  }
  const size_t at = at_start ? 0 : text.bytes.size() - part.bytes.size();
  return text.bytes.compare(at, part.bytes.size(), part.bytes) == 0;
}

Value starts_or_ends(const Text& text, const Args& args, Meter& meter, bool at_start) {
  args.allow({"prefix"}, meter);
  const Value* wanted = args.get(0, "prefix");
  if (wanted == nullptr) {
    fail(meter.line, "startswith and endswith need a text");
  }
  if (const List* list = wanted->list(); list != nullptr && list->kind == ListKind::tuple) {
    bool any = false;
    for (const Value& item : list->items) {
      const Text& part = need_text(item, "startswith or endswith", meter);
      meter.bytes(part.bytes.size());
      any = any || matches_end(text, part, at_start);
    }
    return Value{any};
  }
  const Text& part = need_text(*wanted, "startswith or endswith", meter);
  meter.bytes(part.bytes.size());
  return Value{matches_end(text, part, at_start)};
}

const Text& only_text(const Args& args, std::string_view what, Meter& meter) {
  args.allow({"text"}, meter);
  const Value* value = args.get(0, "text");
  if (value == nullptr) {
    fail(meter.line, std::string(what) + " needs a text");
  }
  return need_text(*value, what, meter);
}

Value find(const Text& text, const Args& args, Meter& meter) {
  const Text& part = only_text(args, "find", meter);
  const size_t at = find_text(text.bytes, part.bytes, 0, meter);
  if (at == std::string_view::npos) {
    return Value{int64_t{-1}};
  }
  return Value{static_cast<int64_t>(count_characters(std::string_view(text.bytes).substr(0, at)))};
}

Value rfind(const Text& text, const Args& args, Meter& meter) {
  const Text& part = only_text(args, "rfind", meter);
  int64_t last = -1;
  for (size_t at = find_text(text.bytes, part.bytes, 0, meter); at != std::string_view::npos;
       at = find_text(text.bytes, part.bytes, at + 1, meter)) {
    last = static_cast<int64_t>(at);
  }
  if (last < 0) {
    return Value{last};
  }
  const std::string_view before(text.bytes.data(), static_cast<size_t>(last));
  return Value{static_cast<int64_t>(count_characters(before))};
}

Value count(const Text& text, const Args& args, Meter& meter) {
  const Text& part = only_text(args, "count", meter);
  if (part.bytes.empty()) {
    return Value{static_cast<int64_t>(count_characters(text.bytes) + 1)};
  }
  int64_t found = 0;
  for (size_t at = find_text(text.bytes, part.bytes, 0, meter); at != std::string_view::npos;
       at = find_text(text.bytes, part.bytes, at + part.bytes.size(), meter)) {
    ++found;
  }
  return Value{found};
}

Value replace(const Text& text, const Args& args, Meter& meter) {
  args.allow({"old", "new", "count"}, meter);
  const Value* from = args.get(0, "old");
  const Value* to = args.get(1, "new");
  const Value* most = args.get(2, "count");
  if (from == nullptr || to == nullptr) {
    fail(meter.line, "replace needs two texts");
  }
  return Value{replace_text(text, need_text(*from, "replace", meter),
                            need_text(*to, "replace", meter),
                            most == nullptr ? -1 : need_int(*most, "replace", meter), meter)};
}

Value join(const Text& text, const Args& args, Meter& meter) {
  args.allow({"iterable"}, meter);
  const Value* items = args.get(0, "iterable");
  TextBuilder out;
  bool first = true;
  for (const Value& item : iterate(items == nullptr ? Value{None{}} : *items, meter)) {
    if (!first) {
      out.append(text);
    }
    first = false;
    const Text& part = need_text(item, "join", meter);
    check_size(out.size() + part.bytes.size() + text.bytes.size(), meter);
    out.append(part);
  }
  return Value{finish(out, meter)};
}

template <Case how>
Value cased(const Text& text, const Args& args, Meter& meter) {
  args.allow({}, meter);
  return Value{change_case(text, how, meter)};
}

Value remove_end(const Text& text, const Args& args, Meter& meter, bool at_start) {
  const Text& part = only_text(args, "removeprefix or removesuffix", meter);
  const size_t size = matches_end(text, part, at_start) ? part.bytes.size() : 0;
  return at_start ? slice_of(text, size, text.bytes.size(), meter)
                  : slice_of(text, 0, text.bytes.size() - size, meter);
}

const std::unordered_map<std::string_view, Method>& text_methods() {
  static const std::unordered_map<std::string_view, Method> kMethods = {
      {"strip", [](auto& t, auto& a, auto& m) { return strip(t, a, m, Side::both); }},
      {"lstrip", [](auto& t, auto& a, auto& m) { return strip(t, a, m, Side::left); }},
      {"rstrip", [](auto& t, auto& a, auto& m) { return strip(t, a, m, Side::right); }},
      {"split", [](auto& t, auto& a, auto& m) { return split(t, a, m, false); }},
      {"rsplit", [](auto& t, auto& a, auto& m) { return split(t, a, m, true); }},
      {"startswith", [](auto& t, auto& a, auto& m) { return starts_or_ends(t, a, m, true); }},
      {"endswith", [](auto& t, auto& a, auto& m) { return starts_or_ends(t, a, m, false); }},
      {"removeprefix", [](auto& t, auto& a, auto& m) { return remove_end(t, a, m, true); }},
      {"removesuffix", [](auto& t, auto& a, auto& m) { return remove_end(t, a, m, false); }},
      {"find", find},
      {"rfind", rfind},
      {"count", count},
      {"replace", replace},
      {"join", join},
      {"upper", cased<Case::upper>},
      {"lower", cased<Case::lower>},
      {"title", cased<Case::title>},
      {"capitalize", cased<Case::capitalize>},
  };
  return kMethods;
}

bool forbidden(std::string_view name) {
  static constexpr std::string_view kNames[] = {"append",  "extend", "insert",    "pop",
                                                "popitem", "remove", "clear",     "reverse",
                                                "update",  "sort",   "setdefault"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

bool of_dict(std::string_view name) {
  return name == "get" || name == "items" || name == "keys" || name == "values";
}

Value dict_method(std::string_view name, const Dict& dict, const Args& args, Meter& meter) {
  if (name == "get") {
    args.allow({"key", "default"}, meter);
    const Value* key = args.get(0, "key");
    const Value* otherwise = args.get(1, "default");
    const Value* found = key == nullptr ? nullptr : find_key(dict, *key, meter);
    return found != nullptr ? *found : otherwise != nullptr ? *otherwise : Value{None{}};
  }
  args.allow({}, meter);
  std::vector<Value> out;
  meter.spend(dict.items.size());
  for (const auto& [key, value] : dict.items) {
    out.push_back(name == "keys"     ? key
                  : name == "values" ? value
                                     : make_list({key, value}, ListKind::tuple, meter.line));
  }
  return make_list(std::move(out), ListKind::view, meter.line);
}

}  // namespace

bool known_method(std::string_view name) {
  return text_methods().count(name) != 0 || of_dict(name) || forbidden(name);
}

Value call_method(std::string_view name, const Value& value, const Args& args, Meter& meter) {
  if (const Undefined* missing = value.as<Undefined>()) {
    fail(meter.line, missing->name + " is undefined");
  }
  if (forbidden(name) && (value.list() != nullptr || value.dict() != nullptr)) {
    fail(meter.line, "the sandbox allows no '" + std::string(name) + "'");
  }
  if (const Text* text = value.text()) {
    const auto found = text_methods().find(name);
    if (found != text_methods().end()) {
      return found->second(*text, args, meter);
    }
  }
  if (const Dict* dict = value.dict(); dict != nullptr && of_dict(name)) {
    return dict_method(name, *dict, args, meter);
  }
  fail(meter.line,
       "a " + std::string(type_name(value)) + " has no method '" + std::string(name) + "'");
}

}  // namespace thinkd::engine::chat
