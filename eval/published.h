#pragma once
// What others have printed about the very problems that an evaluation ran on, for its report to set
// beside the rows of its own. Known by the data file's SHA-256 and the rows: never by a name.
// Sources: Yao et al. 2023 (arXiv 2305.10601) and the logs that were published with it; figures
// counted from those logs are so marked.

#include <span>
#include <string>
#include <string_view>

#include "eval/manifest.h"

namespace thinkd::eval {

struct PublishedFigure {
  std::string_view system;   // "GPT-4, chain of thought"
  std::string_view solved;   // "4.0 %"
  std::string_view counted;  // how
  std::string_view tokens;   // that the figure cost
  std::string_view dollars;  // as billed then
};

struct PublishedFigures {
  std::string_view problems;  // which these are
  std::span<const PublishedFigure> figures;
  std::string_view source;
  std::string_view caution;  // what must be said beside them
};

// Null where none are known for these problems.
const PublishedFigures* published_for(const Manifest& manifest);

// For a terminal: a line a figure and the caution; empty where none are known.
std::string published_text(const Manifest& manifest);

}  // namespace thinkd::eval
