// The words that may follow `is`.

#include <unordered_map>

#include "engine/chat/builtins.h"

namespace thinkd::engine::chat {
namespace {

using Test = bool (*)(const Value&, const Args&, Meter&);

const Value& operand(const Args& args, Meter& meter) {
  if (args.positional.size() != 1 || !args.named.empty()) {
    fail(meter.line, "a test that compares needs one argument");
  }
  return args.positional[0];
}

template <int low, int high>
bool ordered(const Value& value, const Args& args, Meter& meter) {
  const int order = compare(value, operand(args, meter), meter);
  return order >= low && order <= high;
}

bool is_equal(const Value& value, const Args& args, Meter& meter) {
  return equal(value, operand(args, meter), meter);
}

bool is_unequal(const Value& value, const Args& args, Meter& meter) {
  return !equal(value, operand(args, meter), meter);
}

bool is_iterable(const Value& value) {
  return value.text() != nullptr || value.list() != nullptr || value.dict() != nullptr ||
         value.is<Undefined>();
}

bool is_sequence(const Value& value) {
  const List* list = value.list();
  const bool indexed =
      list != nullptr && list->kind != ListKind::view && list->kind != ListKind::generator;
  return value.text() != nullptr || indexed || value.dict() != nullptr;
}

int64_t parity(const Value& value, Meter& meter) {
  return need_int(value, "odd or even", meter) & 1;
}

bool cased(const Value& value, Case how, Meter& meter) {
  const TextRef text = to_str(value, meter.line);
  const bool has_letter = change_case(*text, Case::upper, meter)->bytes !=
                          change_case(*text, Case::lower, meter)->bytes;
  return has_letter && change_case(*text, how, meter)->bytes == text->bytes;
}

const std::unordered_map<std::string_view, Test>& tests() {
  static const std::unordered_map<std::string_view, Test> kTests = {
      {"defined", [](auto& v, auto&, auto&) { return !v.template is<Undefined>(); }},
      {"undefined", [](auto& v, auto&, auto&) { return v.template is<Undefined>(); }},
      {"none", [](auto& v, auto&, auto&) { return v.template is<None>(); }},
      {"string", [](auto& v, auto&, auto&) { return v.text() != nullptr; }},
      {"number", [](auto& v, auto&, auto&) { return is_number(v); }},
      {"integer", [](auto& v, auto&, auto&) { return v.template is<int64_t>(); }},
      {"float", [](auto& v, auto&, auto&) { return v.template is<double>(); }},
      {"boolean", [](auto& v, auto&, auto&) { return v.template is<bool>(); }},
      {"true",
       [](auto& v, auto&, auto&) { return v.template is<bool>() && *v.template as<bool>(); }},
      {"false",
       [](auto& v, auto&, auto&) { return v.template is<bool>() && !*v.template as<bool>(); }},
      {"mapping", [](auto& v, auto&, auto&) { return v.dict() != nullptr; }},
      {"iterable", [](auto& v, auto&, auto&) { return is_iterable(v); }},
      {"sequence", [](auto& v, auto&, auto&) { return is_sequence(v); }},
      {"callable", [](auto& v, auto&, auto&) { return v.template is<const Macro*>(); }},
      {"in", [](auto& v, auto& a, auto& m) { return contains(operand(a, m), v, m); }},
      {"eq", is_equal},
      {"equalto", is_equal},
      {"==", is_equal},
      {"ne", is_unequal},
      {"!=", is_unequal},
      {"lt", ordered<-1, -1>},
      {"lessthan", ordered<-1, -1>},
      {"<", ordered<-1, -1>},
      {"le", ordered<-1, 0>},
      {"<=", ordered<-1, 0>},
      {"gt", ordered<1, 1>},
      {"greaterthan", ordered<1, 1>},
      {">", ordered<1, 1>},
      {"ge", ordered<0, 1>},
      {">=", ordered<0, 1>},
      {"odd", [](auto& v, auto&, auto& m) { return parity(v, m) == 1; }},
      {"even", [](auto& v, auto&, auto& m) { return parity(v, m) == 0; }},
      {"upper", [](auto& v, auto&, auto& m) { return cased(v, Case::upper, m); }},
      {"lower", [](auto& v, auto&, auto& m) { return cased(v, Case::lower, m); }},
  };
  return kTests;
}

}  // namespace

bool known_test(std::string_view name) { return tests().count(name) != 0; }

bool call_test(std::string_view name, const Value& value, const Args& args, Meter& meter) {
  return tests().at(name)(value, args, meter);
}

}  // namespace thinkd::engine::chat
