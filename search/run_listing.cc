#include "search/run_listing.h"

#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/text.h"

namespace thinkd::search {
namespace {

std::string cut(std::string text) {
  if (text.size() <= limits::kListedTextBytes) {
    return text;
  }
  text.resize(limits::kListedTextBytes);
  for (size_t i = 0; i < 3 && !valid_utf8(text); ++i) {  // no character cut in half
    text.pop_back();
  }
  return text + "...";
}

void cut_texts(OrderedJson& value) {
  if (value.is_string()) {
    value = cut(value.get<std::string>());
  } else if (value.is_structured()) {
    for (OrderedJson& item : value) {
      cut_texts(item);
    }
  }
}

OrderedJson question_of(const OrderedJson& messages) {
  OrderedJson question = OrderedJson::array();
  for (const OrderedJson& message : messages) {
    if (message.is_object() && message.value("role", "") == "user") {
      question = OrderedJson::array({message});
    }
  }
  return question;
}

}  // namespace

RunInfo listed(RunInfo info) {
  OrderedJson request = OrderedJson::parse(info.request, nullptr, false);
  info.request.clear();
  if (request.is_object()) {
    request["messages"] = question_of(request.value("messages", OrderedJson::array()));
    cut_texts(request);
    info.request = to_text(request);
  }
  const OrderedJson result = OrderedJson::parse(info.result, nullptr, false);
  info.result.clear();
  if (result.is_object()) {
    OrderedJson kept;
    for (const char* member : {"answer", "confidence", "stopped_by"}) {
      kept[member] = result.value(member, OrderedJson());
    }
    cut_texts(kept);
    info.result = to_text(kept);
  }
  info.error = cut(std::move(info.error));
  return info;
}

}  // namespace thinkd::search
