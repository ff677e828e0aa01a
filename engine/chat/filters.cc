#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/text.h"
#include "engine/chat/builtins.h"
#include "engine/chat/filters_order.h"
#include "engine/chat/spaces.h"

namespace thinkd::engine::chat {
namespace {

using Filter = Value (*)(const Value&, const Args&, Meter&);

// What Jinja's filters that want text do first: str(), undefined becoming the empty text.
TextRef soft(const Value& value, Meter& meter) { return to_str(value, meter.line); }

Value trim(const Value& value, const Args& args, Meter& meter) {
  args.allow({"chars"}, meter);
  return Value{strip_text(*soft(value, meter), args.get(0, "chars"), Side::both, meter)};
}

Value length(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  if (const Text* text = value.text()) {
    meter.bytes(text->bytes.size());
    return Value{static_cast<int64_t>(count_characters(text->bytes))};
  }
  if (const List* list = value.list(); list != nullptr && list->kind != ListKind::generator) {
    return Value{static_cast<int64_t>(list->items.size())};
  }
  if (const Dict* dict = value.dict()) {
    return Value{static_cast<int64_t>(dict->items.size())};
  }
  if (value.is<Undefined>()) {
    return Value{int64_t{0}};
  }
  fail(meter.line, "length: a " + std::string(type_name(value)) + " has none");
}

template <Case how>
Value cased(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  return Value{change_case(*soft(value, meter), how, meter)};
}

Value join(const Value& value, const Args& args, Meter& meter) {
  args.allow({"d", "attribute"}, meter);
  const Value* separator = args.get(0, "d");
  const Value* attribute = args.get(1, "attribute");
  TextBuilder out;
  bool first = true;
  for (const Value& item : iterate(value, meter)) {
    if (!first && separator != nullptr) {
      const TextRef between = soft(*separator, meter);
      check_size(out.size() + between->bytes.size(), meter);
      out.append(*between);
    }
    first = false;
    const TextRef part =
        soft(attribute == nullptr ? item : by_path(item, *attribute, meter), meter);
    if (part->markup) {
      unsupported(meter.line, "join of texts marked 'safe'");
    }
    check_size(out.size() + part->bytes.size(), meter);
    out.append(*part);
  }
  return Value{finish(out, meter)};
}

Value replace(const Value& value, const Args& args, Meter& meter) {
  args.allow({"old", "new", "count"}, meter);
  const Value* from = args.get(0, "old");
  const Value* to = args.get(1, "new");
  const Value* count = args.get(2, "count");
  if (from == nullptr || to == nullptr) {
    fail(meter.line, "replace needs two texts");
  }
  const bool all = count == nullptr || count->is<None>();
  return Value{replace_text(*soft(value, meter), *soft(*from, meter), *soft(*to, meter),
                            all ? -1 : need_int(*count, "replace", meter), meter)};
}

Value fallback(const Value& value, const Args& args, Meter& meter) {
  args.allow({"default_value", "boolean"}, meter);
  const Value* otherwise = args.get(0, "default_value");
  const Value* boolean = args.get(1, "boolean");
  const bool replace =
      value.is<Undefined>() || (boolean != nullptr && truthy(*boolean) && !truthy(value));
  return !replace ? value : otherwise != nullptr ? *otherwise : make_text("");
}

Value first(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  const std::vector<Value> items = iterate(value, meter);
  return items.empty() ? undefined("the first item of an empty sequence") : items.front();
}

Value last(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  if (const List* list = value.list(); list != nullptr && list->kind == ListKind::generator) {
    fail(meter.line, "last: a generator has no end to start from");
  }
  const std::vector<Value> items = iterate(value, meter);
  return items.empty() ? undefined("the last item of an empty sequence") : items.back();
}

Value to_list(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  return make_list(iterate(value, meter), ListKind::list, meter.line);
}

Value items(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  if (value.is<Undefined>()) {
    return make_list({}, ListKind::generator, meter.line);
  }
  if (value.dict() == nullptr) {
    fail(meter.line, "items: expected dict, found " + std::string(type_name(value)));
  }
  return call_method("items", value, args, meter);
}

Args without_first(const Args& args, size_t count) {
  Args rest = args;
  rest.positional.erase(
      rest.positional.begin(),
      rest.positional.begin() + static_cast<ptrdiff_t>(std::min(count, rest.positional.size())));
  return rest;
}

Value map(const Value& value, const Args& args, Meter& meter) {
  std::vector<Value> out;
  const Value* attribute = args.positional.empty() ? args.get(0, "attribute") : nullptr;
  if (attribute != nullptr) {
    const Value* otherwise = args.get(1, "default");
    for (const Value& item : iterate(value, meter)) {
      Value found = by_path(item, *attribute, meter);
      out.push_back(found.is<Undefined>() && otherwise != nullptr ? *otherwise : found);
    }
    return make_list(std::move(out), ListKind::generator, meter.line);
  }
  if (args.positional.empty()) {
    fail(meter.line, "map needs a filter or an attribute");
  }
  const std::string& name = need_text(args.positional[0], "map", meter).bytes;
  if (!known_filter(name) || name == "map") {
    unsupported(meter.line, "map with the filter '" + name.substr(0, 60) + "'");
  }
  const Args rest = without_first(args, 1);
  for (const Value& item : iterate(value, meter)) {
    meter.spend(1);
    out.push_back(call_filter(name, item, rest, meter));
  }
  return make_list(std::move(out), ListKind::generator, meter.line);
}

Value choose(const Value& value, const Args& args, Meter& meter, bool by_attribute, bool wanted) {
  std::vector<Value> out;
  const size_t skip = by_attribute ? 1 : 0;
  if (args.positional.size() < skip) {
    fail(meter.line, "selectattr and rejectattr need an attribute");
  }
  std::string name;
  if (args.positional.size() > skip) {
    name = need_text(args.positional[skip], "the name of a test", meter).bytes;
    if (!known_test(name)) {
      unsupported(meter.line, "the test '" + name.substr(0, 60) + "'");
    }
  }
  const Args rest = without_first(args, skip + 1);
  for (const Value& item : iterate(value, meter)) {
    meter.spend(1);
    const Value tested = by_attribute ? by_path(item, args.positional[0], meter) : item;
    const bool is = name.empty() ? truthy(tested) : call_test(name, tested, rest, meter);
    if (is == wanted) {
      out.push_back(item);
    }
  }
  return make_list(std::move(out), ListKind::generator, meter.line);
}

Value to_string(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  return Value{soft(value, meter)};
}

Value to_int(const Value& value, const Args& args, Meter& meter) {
  args.allow({"default"}, meter);
  const Value* otherwise = args.get(0, "default");
  if (is_integer(value)) {
    return Value{as_int(value)};
  }
  if (value.is<Undefined>()) {
    need_text(value, "int", meter);
  }
  std::optional<double> number;
  if (const double* d = value.as<double>()) {
    number = *d;
  } else if (const Text* text = value.text()) {
    meter.bytes(text->bytes.size());
    const size_t begin = skip_spaces(text->bytes, 0);
    const size_t end = end_without_spaces(text->bytes);
    std::string_view digits(text->bytes);
    digits = begin < end ? digits.substr(begin, end - begin) : std::string_view();
    digits.remove_prefix(!digits.empty() && digits[0] == '+' ? 1 : 0);
    if (const auto whole = parse_int(digits)) {
      return Value{*whole};
    }
    number = parse_double(digits);
  }
  if (number && std::isfinite(*number)) {
    if (std::fabs(*number) >= 9.2e18) {
      unsupported(meter.line, "an integer beyond 64 bits");
    }
    return Value{static_cast<int64_t>(*number)};
  }
  return otherwise != nullptr ? *otherwise : Value{int64_t{0}};
}

Value to_float(const Value& value, const Args& args, Meter& meter) {
  args.allow({"default"}, meter);
  const Value* otherwise = args.get(0, "default");
  if (is_number(value)) {
    return Value{as_double(value)};
  }
  if (value.is<Undefined>()) {
    need_text(value, "float", meter);
  }
  if (const Text* text = value.text()) {
    if (const auto number = parse_double(thinkd::trim(text->bytes))) {
      return Value{*number};
    }
  }
  return otherwise != nullptr ? *otherwise : Value{0.0};
}

Value safe(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  Text text = *soft(value, meter);
  meter.bytes(text.bytes.size());
  text.markup = true;
  return Value{std::make_shared<const Text>(std::move(text))};
}

Value indent(const Value& value, const Args& args, Meter& meter) {
  args.allow({"width", "first", "blank"}, meter);
  const Value* width = args.get(0, "width");
  const Value* first = args.get(1, "first");
  const Value* blank = args.get(2, "blank");
  TextBuilder space;
  if (width != nullptr && width->text() != nullptr) {
    space.append(*width->text());
  } else {
    const int64_t count = width == nullptr ? 4 : need_int(*width, "indent", meter);
    if (count > 4096) {
      fail_limit(meter.line, "indent by " + std::to_string(count) + ", limit 4096");
    }
    space.append(std::string(static_cast<size_t>(std::max<int64_t>(count, 0)), ' '));
  }
  const TextRef margin = finish(space, meter);
  const TextRef text = soft(value, meter);
  TextBuilder out;
  for (size_t at = 0; at <= text->bytes.size();) {
    meter.spend(1);
    const size_t end = std::min(text->bytes.find('\n', at), text->bytes.size());
    const bool at_first = at == 0;
    const bool wanted = at_first ? first != nullptr && truthy(*first)
                                 : end > at || (blank != nullptr && truthy(*blank));
    if (wanted) {
      check_size(out.size() + margin->bytes.size(), meter);
      out.append(*margin);
    }
    out.append(*text, at, std::min(end + 1, text->bytes.size()));
    at = end + 1;
  }
  return Value{finish(out, meter)};
}

Value reverse(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  std::vector<Value> all = iterate(value, meter);
  std::reverse(all.begin(), all.end());
  if (value.text() != nullptr) {
    TextBuilder out;
    for (const Value& item : all) {
      out.append(*item.text());
    }
    return Value{finish(out, meter)};
  }
  return make_list(std::move(all), ListKind::generator, meter.line);
}

Value absolute(const Value& value, const Args& args, Meter& meter) {
  args.allow({}, meter);
  if (is_integer(value) && as_int(value) > INT64_MIN) {
    return Value{as_int(value) < 0 ? -as_int(value) : as_int(value)};
  }
  if (const double* d = value.as<double>()) {
    return Value{std::fabs(*d)};
  }
  fail(meter.line, "abs: expected a number, found " + std::string(type_name(value)));
}

const std::unordered_map<std::string_view, Filter>& filters() {
  static const std::unordered_map<std::string_view, Filter> kFilters = {
      {"trim", trim},
      {"length", length},
      {"count", length},
      {"upper", cased<Case::upper>},
      {"lower", cased<Case::lower>},
      {"title", cased<Case::title_filter>},
      {"capitalize", cased<Case::capitalize>},
      {"join", join},
      {"replace", replace},
      {"default", fallback},
      {"d", fallback},
      {"first", first},
      {"last", last},
      {"list", to_list},
      {"tojson", [](auto& v, auto& a, auto& m) { return Value{to_json(v, a, m)}; }},
      {"items", items},
      {"map", map},
      {"select", [](auto& v, auto& a, auto& m) { return choose(v, a, m, false, true); }},
      {"reject", [](auto& v, auto& a, auto& m) { return choose(v, a, m, false, false); }},
      {"selectattr", [](auto& v, auto& a, auto& m) { return choose(v, a, m, true, true); }},
      {"rejectattr", [](auto& v, auto& a, auto& m) { return choose(v, a, m, true, false); }},
      {"string", to_string},
      {"int", to_int},
      {"float", to_float},
      {"safe", safe},
      {"indent", indent},
      {"unique", unique_filter},
      {"sort", sort_filter},
      {"dictsort", dictsort_filter},
      {"reverse", reverse},
      {"abs", absolute},
  };
  return kFilters;
}

}  // namespace

bool known_filter(std::string_view name) { return filters().count(name) != 0; }

Value call_filter(std::string_view name, const Value& value, const Args& args, Meter& meter) {
  return filters().at(name)(value, args, meter);
}

}  // namespace thinkd::engine::chat
