#include "daemon/cli/show_run.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "daemon/cli/output.h"

namespace thinkd::daemon {
namespace {

constexpr size_t kMostIndent = 32;  // levels drawn apart

std::string bill(const search::Answer& answer) {
  const search::Ledger& ledger = answer.ledger;
  return std::to_string(ledger.total_tokens()) + " tokens (" +
         std::to_string(ledger.prompt_tokens) + " prompt, " +
         std::to_string(ledger.generated_tokens) + " generated, " +
         std::to_string(ledger.verifier_tokens) + " verifier), " +
         std::to_string(answer.candidates.size()) +
         (answer.candidates.size() == 1 ? " candidate, " : " candidates, ") +
         shown_number(ledger.seconds_wall, 1) + " s, stopped by " + answer.stopped_by;
}

std::string text_of(const Json& value, const char* name) {
  const auto found = value.find(name);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string shown_score(const Json& score) {
  return score.is_number() ? shown_number(score.get<double>(), 4) : std::string("?");
}

std::string shown_branch(const Json& node) {
  constexpr size_t kTextBytes = 60;
  std::string line = text_of(node, "branch");
  if (const auto tokens = node.value("tokens", uint64_t{0}); tokens > 0) {
    line += "  " + std::to_string(tokens) + " tokens";
  }
  if (const std::string end = text_of(node, "end"); !end.empty()) {
    line += ", " + end;
  }
  if (const auto scores = node.find("scores"); scores != node.end() && scores->is_array()) {
    for (const Json& score : *scores) {
      line += ", score " + shown_score(score);
    }
  }
  if (node.value("pruned", false)) {
    line += ", pruned";
  }
  if (node.value("candidate", false)) {
    line += ", candidate";
    const std::string answer = text_of(node, "answer");
    line += answer.empty() ? " without an answer" : " " + shortened(answer, kTextBytes);
  }
  const std::string text = shortened(text_of(node, "text"), kTextBytes);
  return text.empty() ? line : line + "  \"" + text + "\"";
}

// Of a request as it is stored: what was asked, and by which strategy.
std::string question_of(const Json& request) {
  std::string question;
  const auto messages = request.find("messages");
  if (messages != request.end() && messages->is_array()) {
    for (const Json& message : *messages) {
      if (text_of(message, "role") == "user") {
        question = text_of(message, "content");
      }
    }
  }
  return question;
}

std::string strategy_of(const Json& request) {
  const auto strategy = request.find("strategy");
  return strategy != request.end() && strategy->is_object() ? text_of(*strategy, "name")
                                                            : std::string("?");
}

Json parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_object() ? value : Json::object();
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::string shortened(std::string_view text, size_t bytes) {
  std::string out;
  for (char c : trim(text)) {
    const bool space = c == '\n' || c == '\t' || c == '\r' || c == ' ';
    if (!space || out.empty() || out.back() != ' ') {
      out += space ? ' ' : c;
    }
  }
  if (out.size() > bytes) {
    out.resize(bytes);
    while (!out.empty() && !valid_utf8(out)) {
      out.pop_back();
    }
    out += "...";
  }
  return out;
}

std::string shown_answer(const search::Answer& answer) {
  std::string out = answer.answer
                        ? *answer.answer
                        : "(no answer in " + std::to_string(answer.candidates.size()) +
                              (answer.candidates.size() == 1 ? " candidate)" : " candidates)");
  out += "\n\n";
  if (answer.confidence) {
    std::string kind = answer.confidence_kind;
    std::replace(kind.begin(), kind.end(), '_', ' ');
    out += "confidence " + shown_number(*answer.confidence, 2) + " (" + kind + ")\n";
  }
  out += bill(answer) + "\n";
  for (const std::string& why : answer.approximate) {
    out += "approximate: " + why + "\n";
  }
  return out + "seed " + std::to_string(answer.seed) + ", run " + answer.run_id +
         (answer.reproducible_from_seed ? "" : ", reproducible from its trace only");
}

std::string shown_run_line(const search::RunInfo& info) {
  constexpr size_t kQuestionBytes = 48;
  const Json request = parsed(info.request);
  return padded(info.run_id, 32) + "  " + padded(std::string(to_string(info.state)), 11) + "  " +
         shown_time(info.created_ms) + "  " + padded(strategy_of(request), 16) + "  " +
         shortened(question_of(request), kQuestionBytes);
}

std::string shown_run(const search::RunInfo& info) {
  const Json request = parsed(info.request);
  std::string out = "run " + info.run_id + "\nstate " + std::string(to_string(info.state)) +
                    (info.error.empty() ? "" : ": " + info.error) + "\nasked " +
                    shown_time(info.created_ms) + " UTC\nstrategy " + strategy_of(request) +
                    "\nmodel " + info.model_sha256 + "\nquestion " + question_of(request);
  if (!info.result.empty()) {
    if (const Result<search::Answer> answer = search::answer_from_json(parsed(info.result))) {
      out += "\nanswer " + shown_answer(*answer);
    }
  }
  return out;
}

std::string shown_tree(const Json& tree) {
  const auto branches = tree.find("branches");
  if (branches == tree.end() || !branches->is_array() || branches->empty()) {
    return "no branches are recorded";
  }
  std::map<std::string, std::vector<const Json*>> children;
  std::map<std::string, bool> known;
  for (const Json& node : *branches) {
    known[text_of(node, "branch")] = true;
  }
  for (const Json& node : *branches) {
    const std::string parent = text_of(node, "parent");
    children[known.contains(parent) ? parent : ""].push_back(&node);
  }
  struct Open {
    const Json* node;
    size_t depth;
  };
  std::vector<Open> open;
  const auto push = [&](const std::string& parent, size_t depth) {
    const std::vector<const Json*> nodes = std::move(children[parent]);
    children[parent].clear();  // each is drawn once, whatever the record says of parents
    for (size_t i = nodes.size(); i > 0; --i) {
      open.push_back({nodes[i - 1], depth});
    }
  };
  std::string out;
  push("", 0);
  while (!open.empty()) {
    const Open next = open.back();
    open.pop_back();
    out += (out.empty() ? "" : "\n") + std::string(2 * std::min(next.depth, kMostIndent), ' ') +
           shown_branch(*next.node);
    push(text_of(*next.node, "branch"), next.depth + 1);
  }
  return out;
}

}  // namespace thinkd::daemon
