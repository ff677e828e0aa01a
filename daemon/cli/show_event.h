#pragma once
// A run's events as lines that a person reads while it thinks: `ask --watch`. Pure functions.

#include <string>

#include "search/event.h"

namespace thinkd::daemon {

// "    0.3  score 0.93", indented by depth; "" for events that show nothing.
std::string shown_event(const search::Event& event);

}  // namespace thinkd::daemon
