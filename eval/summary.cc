#include "eval/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/text.h"
#include "eval/statistics.h"

namespace thinkd::eval {
namespace {

SummaryRow row_of(const std::string& strategy, const Manifest& manifest,
                  std::span<const Sample> samples) {
  SummaryRow row;
  row.strategy = strategy;
  row.budget = manifest.budget;
  if (const auto spec = search::parse_strategy(strategy)) {
    row.params = spec->params;
  }
  std::map<std::string_view, Tally> problems;
  for (const Sample& sample : samples) {
    if (sample.strategy != strategy) {
      continue;
    }
    ++row.samples;
    ++row.outcomes[static_cast<size_t>(sample.outcome)];
    Tally& tally = problems[sample.problem_id];
    tally.n += sample.outcome == Outcome::gold_invalid ? 0 : 1;
    tally.correct += sample.outcome == Outcome::correct ? 1 : 0;
    row.total_tokens += sample.ledger.total_tokens();
    row.generated_tokens += sample.ledger.generated_tokens;
    row.verifier_tokens += sample.ledger.verifier_tokens;
    row.verifier_calls += sample.ledger.verifier_calls;
    row.seconds += sample.seconds;
  }
  row.problems = problems.size();

  std::vector<Tally> graded;
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  uint64_t correct = 0;
  for (const auto& [id, tally] : problems) {
    if (tally.n > 0) {
      graded.push_back(tally);
      least = std::min(least, tally.n);
      most = std::max(most, tally.n);
      correct += tally.correct;
    }
  }
  if (graded.empty()) {
    return row;
  }
  const Estimate estimate = clustered(graded);
  row.accuracy = estimate.mean;
  row.ci95 = most == 1 ? wilson(correct, graded.size()) : estimate.ci95;
  for (uint64_t k = 1; k <= least; k *= 2) {
    row.pass_at[k] = *mean_pass_at(graded, k);
  }
  row.pass_at[least] = *mean_pass_at(graded, least);
  return row;
}

OrderedJson to_json(const SummaryRow& row) {
  OrderedJson out;
  out["strategy"] = row.strategy;
  out["params"] = OrderedJson::parse(row.params, nullptr, false);
  out["budget"] = search::to_json(row.budget);
  out["problems"] = row.problems;
  out["accuracy"] = row.accuracy ? OrderedJson(*row.accuracy) : OrderedJson();
  out["ci95"] = {row.ci95.first, row.ci95.second};
  out["pass_at"] = OrderedJson::object();
  for (const auto& [k, value] : row.pass_at) {
    out["pass_at"][std::to_string(k)] = value;
  }
  for (size_t i = 0; i < kOutcomes; ++i) {
    out["outcomes"][std::string(kOutcomeNames[i])] = row.outcomes[i];
  }
  out["total_tokens"] = row.total_tokens;
  out["generated_tokens"] = row.generated_tokens;
  out["verifier_tokens"] = row.verifier_tokens;
  out["verifier_calls"] = row.verifier_calls;
  out["seconds"] = row.seconds;
  return out;
}

// RFC 4180.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "\"";
  for (const char c : text) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + '"';
}

// "12.3" for 12.34.
std::string one_digit(double value) {
  const auto tenths = static_cast<int64_t>(value * 10 + 0.5);
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
}

std::string percent(double share) { return one_digit(share * 100); }

}  // namespace

Summary summarize(const Manifest& manifest, std::span<const Sample> samples) {
  Summary summary;
  summary.manifest = manifest;
  for (const std::string& strategy : manifest.strategies) {
    summary.rows.push_back(row_of(strategy, manifest, samples));
  }
  return summary;
}

OrderedJson to_json(const Summary& summary) {
  OrderedJson out;
  out["rows"] = OrderedJson::array();
  for (const SummaryRow& row : summary.rows) {
    out["rows"].push_back(to_json(row));
  }
  return out;
}

std::string summary_text(const Summary& summary) { return to_json(summary).dump(2) + '\n'; }

std::string to_csv(const Summary& summary) {
  std::map<uint64_t, bool> ks;
  for (const SummaryRow& row : summary.rows) {
    for (const auto& [k, value] : row.pass_at) {
      ks[k] = true;
    }
  }
  std::string out = "strategy,params,budget,problems,samples,accuracy,ci95_low,ci95_high";
  for (const auto& [k, present] : ks) {
    out += ",pass_at_" + std::to_string(k);
  }
  for (const std::string_view name : kOutcomeNames) {
    out += ',' + std::string(name);
  }
  out += ",total_tokens,generated_tokens,verifier_tokens,verifier_calls,seconds\n";
  for (const SummaryRow& row : summary.rows) {
    out += csv_field(row.strategy) + ',' + csv_field(row.params) + ',' +
           csv_field(to_text(search::to_json(row.budget))) + ',' + std::to_string(row.problems) +
           ',' + std::to_string(row.samples) + ',' +
           (row.accuracy ? format_double(*row.accuracy) : "") + ',' +
           format_double(row.ci95.first) + ',' + format_double(row.ci95.second);
    for (const auto& [k, present] : ks) {
      const auto found = row.pass_at.find(k);
      out += ',' + (found == row.pass_at.end() ? "" : format_double(found->second));
    }
    for (const uint64_t count : row.outcomes) {
      out += ',' + std::to_string(count);
    }
    for (const uint64_t count :
         {row.total_tokens, row.generated_tokens, row.verifier_tokens, row.verifier_calls}) {
      out += ',' + std::to_string(count);
    }
    out += ',' + format_double(row.seconds) + '\n';
  }
  return out;
}

std::string to_table(const Summary& summary) {
  std::vector<std::vector<std::string>> lines = {{"strategy", "problems", "accuracy %",
                                                  "95 % interval", "tokens", "generated",
                                                  "verifier calls", "seconds", "outcomes"}};
  for (const SummaryRow& row : summary.rows) {
    std::string outcomes;
    for (size_t i = 0; i < kOutcomes; ++i) {
      if (row.outcomes[i] != 0) {
        outcomes += (outcomes.empty() ? "" : ", ") + std::string(kOutcomeNames[i]) + ' ' +
                    std::to_string(row.outcomes[i]);
      }
    }
    lines.push_back({escape_controls(row.strategy), std::to_string(row.problems),
                     row.accuracy ? percent(*row.accuracy) : "-",
                     percent(row.ci95.first) + " - " + percent(row.ci95.second),
                     std::to_string(row.total_tokens), std::to_string(row.generated_tokens),
                     std::to_string(row.verifier_calls), one_digit(row.seconds), outcomes});
  }
  std::string out;
  for (const std::vector<std::string>& line : lines) {
    for (size_t column = 0; column < line.size(); ++column) {
      out += line[column];
      if (column + 1 == line.size()) {
        break;
      }
      size_t width = 0;
      for (const std::vector<std::string>& other : lines) {
        width = std::max(width, other[column].size());
      }
      out.append(width - line[column].size() + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace thinkd::eval
