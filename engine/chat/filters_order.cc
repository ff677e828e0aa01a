#include "engine/chat/filters_order.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace thinkd::engine::chat {
namespace {

// What sort, unique and dictsort compare: texts without their case unless asked.
Value sort_key(const Value& item, const Value* attribute, bool case_sensitive, Meter& meter) {
  Value key =
      attribute == nullptr || attribute->is<None>() ? item : by_path(item, *attribute, meter);
  if (!case_sensitive && key.text() != nullptr) {
    key = Value{change_case(*key.text(), Case::lower, meter)};
  }
  return key;
}

Value sorted(std::vector<std::pair<Value, Value>> keyed, bool reverse, Meter& meter) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    meter.spend(1);
    const int order = compare(a.first, b.first, meter);
    return reverse ? order > 0 : order < 0;
  });
  std::vector<Value> out;
  for (auto& item : keyed) {
    out.push_back(std::move(item.second));
  }
  return make_list(std::move(out), ListKind::list, meter.line);
}

bool flag(const Value* value) { return value != nullptr && truthy(*value); }

}  // namespace

Value sort_filter(const Value& value, const Args& args, Meter& meter) {
  args.allow({"reverse", "case_sensitive", "attribute"}, meter);
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& item : iterate(value, meter)) {
    keyed.emplace_back(
        sort_key(item, args.get(2, "attribute"), flag(args.get(1, "case_sensitive")), meter), item);
  }
  return sorted(std::move(keyed), flag(args.get(0, "reverse")), meter);
}

Value dictsort_filter(const Value& value, const Args& args, Meter& meter) {
  args.allow({"case_sensitive", "by", "reverse"}, meter);
  const Value* by = args.get(1, "by");
  if (value.dict() == nullptr) {
    fail(meter.line, "dictsort: expected dict, found " + std::string(type_name(value)));
  }
  const bool by_value = by != nullptr && need_text(*by, "dictsort", meter).bytes == "value";
  std::vector<std::pair<Value, Value>> keyed;
  for (const auto& [key, content] : value.dict()->items) {
    keyed.emplace_back(
        sort_key(by_value ? content : key, nullptr, flag(args.get(0, "case_sensitive")), meter),
        make_list({key, content}, ListKind::tuple, meter.line));
  }
  return sorted(std::move(keyed), flag(args.get(2, "reverse")), meter);
}

Value unique_filter(const Value& value, const Args& args, Meter& meter) {
  args.allow({"case_sensitive", "attribute"}, meter);
  std::vector<Value> seen;
  std::vector<Value> out;
  for (const Value& item : iterate(value, meter)) {
    Value key =
        sort_key(item, args.get(1, "attribute"), flag(args.get(0, "case_sensitive")), meter);
    if (std::none_of(seen.begin(), seen.end(),
                     [&](const Value& other) { return equal(other, key, meter); })) {
      seen.push_back(std::move(key));
      out.push_back(item);
    }
  }
  return make_list(std::move(out), ListKind::generator, meter.line);
}

}  // namespace thinkd::engine::chat
