#pragma once
// A run's events as lines that a person reads while it thinks: `ask --watch`. One thread at a time.

#include <map>
#include <string>

#include "search/event.h"

namespace thinkd::daemon {

// What a branch grew by is held back until the branch is judged, done or dropped, so that score and
// text share a line:
//     0.3  score 0.93  9-5=4 (left 1,4,6)  (13 tokens, stop_text)
class EventLines {
 public:
  // Lines joined by line ends, indented by depth; "" where there is nothing to show yet.
  std::string take(const search::Event& event);
  // What is still held back when the run is over.
  std::string rest();

 private:
  std::string grown(const std::string& branch);

  std::map<std::string, std::string> grown_;  // by branch
};

}  // namespace thinkd::daemon
