#include "search/event.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace thinkd::search {

std::string_view to_string(EventKind kind) {
  switch (kind) {
    case EventKind::opened:
      return "opened";
    case EventKind::extended:
      return "extended";
    case EventKind::scored:
      return "scored";
    case EventKind::pruned:
      return "pruned";
    case EventKind::finished:
      return "finished";
    case EventKind::best:
      return "best";
    case EventKind::ledger:
      return "ledger";
    case EventKind::note:
      return "note";
  }
  return "note";
}

OrderedJson to_json(const Event& event) {
  OrderedJson out;
  out["index"] = event.index;
  out["event"] = to_string(event.kind);
  if (!event.branch.empty()) {
    out["branch"] = event.branch;
  }
  switch (event.kind) {
    case EventKind::opened:
      out["parent"] = event.parent.empty() ? OrderedJson() : OrderedJson(event.parent);
      out["tokens"] = event.tokens;
      break;
    case EventKind::extended:
      out["tokens"] = event.tokens;
      out["text"] = event.text;
      out["end"] = event.note;
      break;
    case EventKind::scored:
      out["score"] = event.score ? OrderedJson(*event.score) : OrderedJson();
      out["note"] = event.note;
      break;
    case EventKind::pruned:
      break;
    case EventKind::finished:
      out["answer"] = event.answer ? OrderedJson(*event.answer) : OrderedJson();
      out["score"] = event.score ? OrderedJson(*event.score) : OrderedJson();
      out["text"] = event.text;
      break;
    case EventKind::best:
      out["answer"] = event.answer ? OrderedJson(*event.answer) : OrderedJson();
      out["confidence"] = event.score ? OrderedJson(*event.score) : OrderedJson();
      break;
    case EventKind::ledger:
      out["ledger"] = event.ledger ? to_json(*event.ledger) : OrderedJson();
      break;
    case EventKind::note:
      out["note"] = event.note;
      break;
  }
  return out;
}

Result<Event> event_from_json(const Json& value) {
  constexpr EventKind kKinds[] = {EventKind::opened, EventKind::extended, EventKind::scored,
                                  EventKind::pruned, EventKind::finished, EventKind::best,
                                  EventKind::ledger, EventKind::note};
  Event event;
  try {
    event.index = value.at("index").get<uint64_t>();
    const std::string name = value.at("event").get<std::string>();
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](EventKind one) { return to_string(one) == name; });
    if (kind == std::end(kKinds)) {
      return corrupt("stored event: \"" + name + "\" is no kind of event");
    }
    event.kind = *kind;
    event.branch = value.value("branch", "");
    event.tokens = value.value("tokens", uint64_t{0});
    event.text = value.value("text", "");
    event.note = value.value(event.kind == EventKind::extended ? "end" : "note", "");
    if (value.contains("parent") && !value["parent"].is_null()) {
      event.parent = value["parent"].get<std::string>();
    }
    if (value.contains("answer") && !value["answer"].is_null()) {
      event.answer = value["answer"].get<std::string>();
    }
    const char* score = event.kind == EventKind::best ? "confidence" : "score";
    if (value.contains(score) && !value[score].is_null()) {
      event.score = value[score].get<double>();
    }
    if (value.contains("ledger") && value["ledger"].is_object()) {
      event.ledger = ledger_from_json(value["ledger"]);
    }
  } catch (const nlohmann::json::exception& error) {
    return corrupt(std::string("stored event: ") + error.what());
  }
  return event;
}

OrderedJson tree_of(std::span<const Json> events) {
  OrderedJson out;
  out["branches"] = OrderedJson::array();
  out["best"] = OrderedJson();
  out["events"] = events.size();
  std::map<std::string, size_t> at;  // path -> index of its latest node
  for (const Json& event : events) {
    const std::string kind = event.value("event", "");
    const std::string path = event.value("branch", "");
    if (kind == "opened") {
      at[path] = out["branches"].size();
      OrderedJson node;
      node["branch"] = path;
      node["parent"] = event.contains("parent") ? OrderedJson(event["parent"]) : OrderedJson();
      node["text"] = "";
      node["tokens"] = uint64_t{0};
      node["end"] = OrderedJson();
      node["scores"] = OrderedJson::array();
      node["pruned"] = false;
      node["candidate"] = false;
      node["answer"] = OrderedJson();
      node["score"] = OrderedJson();
      out["branches"].push_back(std::move(node));
      continue;
    }
    if (kind == "best") {
      OrderedJson best;
      best["branch"] = path;
      best["answer"] = event.contains("answer") ? OrderedJson(event["answer"]) : OrderedJson();
      best["confidence"] =
          event.contains("confidence") ? OrderedJson(event["confidence"]) : OrderedJson();
      out["best"] = std::move(best);
      continue;
    }
    const auto found = at.find(path);
    if (found == at.end()) {
      continue;
    }
    OrderedJson& node = out["branches"][found->second];
    if (kind == "extended") {
      node["text"] = node["text"].get<std::string>() + event.value("text", "");
      node["tokens"] = node["tokens"].get<uint64_t>() + event.value("tokens", uint64_t{0});
      node["end"] = event.value("end", "");
    } else if (kind == "scored" && event.contains("score")) {
      node["scores"].push_back(OrderedJson(event["score"]));
    } else if (kind == "pruned") {
      node["pruned"] = true;
    } else if (kind == "finished") {
      node["candidate"] = true;
      node["answer"] = event.contains("answer") ? OrderedJson(event["answer"]) : OrderedJson();
      node["score"] = event.contains("score") ? OrderedJson(event["score"]) : OrderedJson();
    }
  }
  return out;
}

}  // namespace thinkd::search
