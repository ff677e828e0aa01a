#pragma once
// What a log says, a row a strategy. Written as summary.json in the contract's shape:
// { "rows": [ { "strategy", "params", "budget", "problems", "accuracy", "ci95", "pass_at",
// "outcomes",
//   "total_tokens", "generated_tokens", "verifier_tokens", "verifier_calls", "seconds" } ] }
// Accuracy is the mean over problems of the mean over samples; samples whose reference is invalid
// do not count. The interval is Wilson's for one sample a problem, clustered by problem else.
// Totals are sums over problems and samples. Pure functions.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "eval/log.h"
#include "eval/manifest.h"
#include "eval/outcome.h"

namespace thinkd::eval {

struct SummaryRow {
  std::string strategy;       // as typed
  std::string params = "{}";  // JSON object
  search::Budget budget;
  uint64_t problems = 0;           // with at least one sample
  uint64_t samples = 0;            // all lines
  std::optional<double> accuracy;  // none where nothing could be graded
  std::pair<double, double> ci95 = {0, 1};
  std::map<uint64_t, double> pass_at;  // k = 1, 2, 4, ... and every problem's n; k <= n of each
  std::array<uint64_t, kOutcomes> outcomes{};
  uint64_t total_tokens = 0;
  uint64_t generated_tokens = 0;
  uint64_t verifier_tokens = 0;
  uint64_t verifier_calls = 0;
  double seconds = 0;  // of the runs' wall time, added up
};

struct Summary {
  Manifest manifest;
  std::vector<SummaryRow> rows;  // in the manifest's order of strategies
};

Summary summarize(const Manifest& manifest, std::span<const Sample> samples);

OrderedJson to_json(const Summary& summary);
std::string summary_text(const Summary& summary);  // summary.json
std::string to_csv(const Summary& summary);
std::string to_table(const Summary& summary);  // for a terminal: aligned columns, a line a row

}  // namespace thinkd::eval
