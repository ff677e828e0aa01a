#include "eval/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "eval/published.h"

namespace thinkd::eval {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 400;
constexpr double kLeft = 56;
constexpr double kRight = 24;
constexpr double kTop = 16;
constexpr double kBottom = 48;
constexpr std::array<std::string_view, 8> kColours = {"#1b6ca8", "#c4501b", "#2e7d32", "#7b3fa0",
                                                      "#8d6e13", "#c2185b", "#00796b", "#455a64"};

constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'\">\n<title>Evaluation</title>\n<style>\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;"
    "color:#222}\n"
    "table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .6rem;"
    "border-bottom:1px solid #ddd;text-align:right}\n"
    "th:first-child,td:first-child{text-align:left}td.t{text-align:left}code{font-size:13px}\n"
    "svg text{font:12px system-ui,sans-serif;fill:#333}\n</style></head><body>\n"
    "<h1>Evaluation</h1>\n";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

// With `digits` after the point.
std::string fixed(double value, int digits) {
  const double scale = std::pow(10.0, digits);
  return format_double(std::round(value * scale) / scale);
}

std::string percent(double share) { return fixed(share * 100, 1); }

// A point of the plot.
struct Point {
  const SummaryRow* row = nullptr;
  double tokens = 0;  // mean of a sample, verifier included
};

std::vector<Point> points_of(std::span<const Summary> summaries) {
  std::vector<Point> points;
  for (const Summary& summary : summaries) {
    for (const SummaryRow& row : summary.rows) {
      if (row.accuracy && row.samples > 0) {
        points.push_back({&row, std::max(1.0, static_cast<double>(row.total_tokens) /
                                                  static_cast<double>(row.samples))});
      }
    }
  }
  return points;
}

// Tokens on a logarithmic axis between whole powers of two.
class Axes {
 public:
  explicit Axes(std::span<const Point> points) {
    double least = INFINITY;
    double most = 0;
    for (const Point& point : points) {
      least = std::min(least, point.tokens);
      most = std::max(most, point.tokens);
    }
    low_ = std::floor(std::log2(least) - 0.1);
    high_ = std::max(low_ + 1, std::ceil(std::log2(most) + 0.1));
  }
  double x(double tokens) const {
    return kLeft + (std::log2(tokens) - low_) / (high_ - low_) * (kWidth - kLeft - kRight);
  }
  static double y(double share) { return kHeight - kBottom - share * (kHeight - kTop - kBottom); }
  double low() const { return low_; }
  double high() const { return high_; }

 private:
  double low_ = 0;
  double high_ = 1;
};

std::string line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return "<line x1=\"" + fixed(x1, 1) + "\" y1=\"" + fixed(y1, 1) + "\" x2=\"" + fixed(x2, 1) +
         "\" y2=\"" + fixed(y2, 1) + "\" stroke=\"" + std::string(colour) + "\"/>\n";
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return "<text x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" text-anchor=\"" +
         std::string(anchor) + "\">" + escaped(text) + "</text>\n";
}

std::string plot(std::span<const Point> points) {
  const Axes axes(points);
  std::string out = "<svg viewBox=\"0 0 " + fixed(kWidth, 0) + ' ' + fixed(kHeight, 0) +
                    "\" role=\"img\" aria-label=\"Accuracy against tokens\">\n";
  for (int tenths = 0; tenths <= 10; tenths += 2) {
    const double y = Axes::y(tenths / 10.0);
    out += line(kLeft, y, kWidth - kRight, y, "#ddd");
    out += label(kLeft - 8, y + 4, "end", std::to_string(tenths * 10) + " %");
  }
  const double step = std::max(1.0, std::ceil((axes.high() - axes.low()) / 10));
  for (double power = axes.low(); power <= axes.high(); power += step) {
    const double x = axes.x(std::exp2(power));
    out += line(x, kHeight - kBottom, x, kHeight - kBottom + 5, "#888");
    out += label(x, kHeight - kBottom + 20, "middle", fixed(std::exp2(power), 0));
  }
  out += label((kLeft + kWidth - kRight) / 2, kHeight - 8, "middle",
               "tokens a sample (prompt, generated and verifier), logarithmic");
  for (size_t i = 0; i < points.size(); ++i) {
    const SummaryRow& row = *points[i].row;
    const std::string_view colour = kColours[i % kColours.size()];
    const double x = axes.x(points[i].tokens);
    const double low = Axes::y(row.ci95.first);
    const double high = Axes::y(row.ci95.second);
    out += line(x, low, x, high, colour) + line(x - 4, low, x + 4, low, colour) +
           line(x - 4, high, x + 4, high, colour);
    out += "<circle cx=\"" + fixed(x, 1) + "\" cy=\"" + fixed(Axes::y(*row.accuracy), 1) +
           "\" r=\"4\" fill=\"" + std::string(colour) + "\"><title>" + escaped(row.strategy) +
           ": " + percent(*row.accuracy) + " %, " + fixed(points[i].tokens, 1) +
           " tokens</title></circle>\n";
    const bool left = x > kWidth * 0.6;
    out += label(x + (left ? -8 : 8), Axes::y(*row.accuracy) - 8, left ? "end" : "start",
                 row.strategy.substr(0, 60));
  }
  return out + "</svg>\n";
}

std::string cell(std::string_view text, bool left = false) {
  return std::string(left ? "<td class=\"t\">" : "<td>") + escaped(text) + "</td>";
}

std::string table(std::span<const SummaryRow> rows) {
  std::string out =
      "<table><thead><tr><th>strategy</th><th>problems</th><th>samples</th><th>accuracy %</th>"
      "<th>95 % interval</th><th>pass@k %</th><th>total tokens</th><th>generated</th>"
      "<th>verifier tokens</th><th>verifier calls</th><th>seconds</th><th>outcomes</th></tr>"
      "</thead><tbody>\n";
  for (const SummaryRow& row : rows) {
    std::string passes;
    for (const auto& [k, value] : row.pass_at) {
      passes += (passes.empty() ? "" : ", ") + std::to_string(k) + ": " + percent(value);
    }
    std::string outcomes;
    for (size_t i = 0; i < kOutcomes; ++i) {
      if (row.outcomes[i] != 0) {
        outcomes += (outcomes.empty() ? "" : ", ") + std::string(kOutcomeNames[i]) + ' ' +
                    std::to_string(row.outcomes[i]);
      }
    }
    out += "<tr><td><code>" + escaped(row.strategy) + "</code></td>" +
           cell(std::to_string(row.problems)) + cell(std::to_string(row.samples)) +
           cell(row.accuracy ? percent(*row.accuracy) : "-") +
           cell(percent(row.ci95.first) + " - " + percent(row.ci95.second)) + cell(passes) +
           cell(std::to_string(row.total_tokens)) + cell(std::to_string(row.generated_tokens)) +
           cell(std::to_string(row.verifier_tokens)) + cell(std::to_string(row.verifier_calls)) +
           cell(fixed(row.seconds, 1)) + cell(outcomes, true) + "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string published_section(const PublishedFigures& known) {
  std::string out = "<h3>Published for " + escaped(known.problems) +
                    "</h3>\n<table><thead><tr><th>system</th><th>solved</th><th>counted as</th>"
                    "<th>tokens</th><th>US dollars</th></tr></thead><tbody>\n";
  for (const PublishedFigure& figure : known.figures) {
    out += "<tr>" + cell(figure.system, true) + cell(figure.solved) + cell(figure.counted, true) +
           cell(figure.tokens, true) + cell(figure.dollars) + "</tr>\n";
  }
  return out + "</tbody></table>\n<p>" + escaped(known.source) + ". <strong>" +
         escaped(known.caution) + "</strong></p>\n";
}

std::string section(const Summary& summary) {
  const Manifest& manifest = summary.manifest;
  uint64_t done = 0;
  for (const SummaryRow& row : summary.rows) {
    done += row.samples;
  }
  const uint64_t total = manifest.problems * manifest.strategies.size() * manifest.samples;
  std::string out =
      "<h2>" + escaped(manifest.data_name) + ", " + escaped(manifest.model.name) + "</h2>\n";
  if (done < total) {
    out += "<p><strong>Unfinished: " + std::to_string(done) + " of " + std::to_string(total) +
           " samples.</strong></p>\n";
  }
  out += table(summary.rows);
  if (const PublishedFigures* known = published_for(manifest)) {
    out += published_section(*known);
  }
  return out + "<details><summary>What was run, manifest " + hash_of(manifest).substr(0, 16) +
         "</summary><pre>" + escaped(to_json(manifest).dump(2)) + "</pre></details>\n";
}

}  // namespace

std::string to_html(std::span<const Summary> summaries) {
  std::string out(kHead);
  const std::vector<Point> points = points_of(summaries);
  if (!points.empty()) {
    out += plot(points);
  }
  for (const Summary& summary : summaries) {
    out += section(summary);
  }
  return out +
         "<p>Accuracy is the mean over problems of the mean over samples. Intervals are Wilson's "
         "for one sample a problem, clustered by problem else. Wrong answers whose text was cut "
         "count as token_limit; samples whose reference cannot be read do not count.</p>\n"
         "</body></html>\n";
}

}  // namespace thinkd::eval
