#pragma once
// A run as a list tells of it: bounded, however long its question and its answer are.

#include "search/runs.h"

namespace thinkd::search {

// Of the request, the last user message alone is left of `messages`; of the result, "answer",
// "confidence" and "stopped_by". Texts, the error too, are cut to limits::kListedTextBytes, "..."
// behind.
RunInfo listed(RunInfo info);

}  // namespace thinkd::search
