#include "daemon/cli/show_event.h"

#include <algorithm>

#include "daemon/cli/output.h"
#include "daemon/cli/show_run.h"

namespace thinkd::daemon {
namespace {

using search::EventKind;

constexpr size_t kMostIndent = 32;  // levels drawn apart
constexpr size_t kTextBytes = 120;

std::string at_branch(const search::Event& event, const std::string& text) {
  const auto depth = std::count(event.branch.begin(), event.branch.end(), '.');
  const size_t indent = 2 * std::min<size_t>(static_cast<size_t>(depth), kMostIndent);
  return std::string(indent, ' ') + event.branch + "  " + text;
}

}  // namespace

std::string shown_event(const search::Event& event) {
  switch (event.kind) {
    case EventKind::extended:
      return at_branch(event, shortened(event.text, kTextBytes) + "  (" +
                                  std::to_string(event.tokens) + " tokens, " + event.note + ")");
    case EventKind::scored:
      return at_branch(event, "score " + shown_number(event.score.value_or(0), 3) +
                                  (event.note.empty() || event.note == "none" ? "" : ", ") +
                                  (event.note == "none" ? "" : event.note));
    case EventKind::pruned:
      return at_branch(event, "pruned");
    case EventKind::finished:
      return at_branch(event, event.answer ? "candidate: " + shortened(*event.answer, kTextBytes)
                                           : std::string("candidate without an answer"));
    case EventKind::best:
      return "best so far: " + shortened(event.answer.value_or("none"), kTextBytes);
    case EventKind::note:
      return event.branch.empty() ? event.note : at_branch(event, event.note);
    case EventKind::opened:
    case EventKind::ledger:
      break;
  }
  return "";
}

}  // namespace thinkd::daemon
