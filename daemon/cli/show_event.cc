#include "daemon/cli/show_event.h"

#include <algorithm>
#include <utility>

#include "daemon/cli/output.h"
#include "daemon/cli/show_run.h"

namespace thinkd::daemon {
namespace {

using search::EventKind;

constexpr size_t kMostIndent = 32;  // levels drawn apart
constexpr size_t kTextBytes = 120;

std::string at_branch(const std::string& branch, const std::string& text) {
  const auto depth = std::count(branch.begin(), branch.end(), '.');
  const size_t indent = 2 * std::min<size_t>(static_cast<size_t>(depth), kMostIndent);
  return std::string(indent, ' ') + branch + "  " + text;
}

std::string verdict(const search::Event& event) {
  return "score " + shown_number(event.score.value_or(0), 3) +
         (event.note.empty() || event.note == "none" ? "" : ", " + event.note);
}

std::string outcome(const search::Event& event) {
  return event.answer ? "candidate: " + shortened(*event.answer, kTextBytes)
                      : std::string("candidate without an answer");
}

void add_line(std::string& lines, const std::string& line) {
  lines += (lines.empty() || line.empty() ? "" : "\n") + line;
}

}  // namespace

std::string EventLines::grown(const std::string& branch) {
  auto node = grown_.extract(branch);
  return node.empty() ? std::string() : std::move(node.mapped());
}

std::string EventLines::take(const search::Event& event) {
  if (event.kind == EventKind::best) {
    return "best so far: " + shortened(event.answer.value_or("none"), kTextBytes);
  }
  if (event.kind == EventKind::opened || event.kind == EventKind::ledger) {
    return "";
  }
  if (event.branch.empty()) {
    return event.note;
  }
  std::string text = grown(event.branch);
  if (event.kind == EventKind::scored) {
    return at_branch(event.branch, verdict(event) + (text.empty() ? "" : "  ") + text);
  }
  std::string lines = text.empty() ? "" : at_branch(event.branch, text);
  if (event.kind == EventKind::extended) {
    grown_[event.branch] = shortened(event.text, kTextBytes) + "  (" +
                           std::to_string(event.tokens) + " tokens, " + event.note + ")";
  } else if (event.kind == EventKind::pruned) {
    add_line(lines, at_branch(event.branch, "pruned"));
  } else if (event.kind == EventKind::finished) {
    add_line(lines, at_branch(event.branch, outcome(event)));
  } else {
    add_line(lines, at_branch(event.branch, event.note));
  }
  return lines;
}

std::string EventLines::rest() {
  std::string lines;
  for (const auto& [branch, text] : std::exchange(grown_, {})) {
    add_line(lines, at_branch(branch, text));
  }
  return lines;
}

}  // namespace thinkd::daemon
