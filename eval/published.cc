#include "eval/published.h"

namespace thinkd::eval {
namespace {

constexpr std::string_view kGame24 =
    "b9f12b3e36d987a3c714c4cef17d89a137d7c59da26532fcfb93b4821d8111b5";

constexpr PublishedFigure kGpt4[] = {
    {"GPT-4, asked directly", "7.3 %", "mean of 100 samples a puzzle, from the published log",
     "180,000 generated for all samples", "13.8"},
    {"GPT-4, chain of thought", "4.0 %", "mean of 100 samples a puzzle, from the published log",
     "462,000 generated for all samples", "32.2"},
    {"GPT-4, tree of thoughts, breadth 5", "69 to 74 %",
     "any of the 5 kept: 69 in the published log, 74 in the paper",
     "548,000 generated, 1,390,000 prompt", "74.5"},
};

constexpr PublishedFigures kGame24Hard = {
    "the 100 Game of 24 puzzles of ranks 901 to 1000", kGpt4,
    "Yao et al. 2023, arXiv 2305.10601, and its published logs",
    "GPT-4 is a general model that was shown a few examples. A model that is trained for this one "
    "task, as thinkd's own countdown model is, may pass these figures and still know nothing else: "
    "compare its rows with each other, to see what search adds, and not with GPT-4's."};

}  // namespace

const PublishedFigures* published_for(const Manifest& manifest) {
  const bool hard = manifest.data_sha256 == kGame24 && manifest.first_row == 901 &&
                    manifest.last_row == 1000 && manifest.problems == 100;
  return hard ? &kGame24Hard : nullptr;
}

std::string published_text(const Manifest& manifest) {
  const PublishedFigures* known = published_for(manifest);
  if (known == nullptr) {
    return "";
  }
  std::string out = "published for " + std::string(known->problems) + ":\n";
  for (const PublishedFigure& figure : known->figures) {
    out += "  " + std::string(figure.system) + "  " + std::string(figure.solved) + " (" +
           std::string(figure.counted) + "; $" + std::string(figure.dollars) + ")\n";
  }
  return out + "  " + std::string(known->source) + ".\n" + std::string(known->caution) + "\n";
}

}  // namespace thinkd::eval
