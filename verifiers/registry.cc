#include "verifiers/registry.h"

#include <algorithm>

#include "verifiers/countdown.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

constexpr std::string_view kMeanLogprob = "mean_logprob";
constexpr std::string_view kStepScorer = "step_scorer";
constexpr std::string_view kNoParameters =
    R"({"type":"object","properties":{},"additionalProperties":false})";

class MeanLogprob : public Verifier {
 public:
  Verdict check(const Problem&, const Candidate& candidate) const override {
    Verdict verdict;
    verdict.score = candidate.mean_logprob();
    return verdict;
  }
};

class Countdown : public Verifier, public Grader {
 public:
  Verdict check(const Problem& problem, const Candidate& candidate) const override {
    return check_countdown(problem, candidate.text);
  }
  Verdict grade(const Task& task, std::string_view text) const override {
    return check_countdown(task.problem, text);
  }
};

// Says whether there is an answer and which; what is right it cannot know.
class Extract : public Verifier {
 public:
  Verdict check(const Problem& problem, const Candidate& candidate) const override {
    const Extraction extraction = extract_answer(candidate.text, problem.kind);
    Verdict verdict;
    verdict.answer = extraction.answer;
    verdict.outcome = extraction.found ? Outcome::none : Outcome::no_answer;
    verdict.score = extraction.found ? 1.0 : 0.0;
    verdict.reason = extraction.reason;
    return verdict;
  }
};

// Grades as one kind, whatever the task says; without a kind, as the task says.
class KindGrader : public Grader {
 public:
  explicit KindGrader(AnswerKind kind) : kind_(kind) {}
  Verdict grade(const Task& task, std::string_view text) const override {
    Task as = task;
    as.problem.kind = kind_;
    return verifiers::grade(as, text);
  }

 private:
  AnswerKind kind_;
};

Status no_parameters(std::string_view name, const Parameters& parameters) {
  return parameters.empty() ? Status()
                            : invalid("verifier '" + std::string(name) + "' has no parameter '" +
                                      printable(parameters.begin()->first, 64) + "'");
}

template <class T, class... Arguments>
auto verifier_of(std::string name, Arguments... arguments) {
  return [name = std::move(name),
          arguments...](const Parameters& parameters) -> Result<std::shared_ptr<const Verifier>> {
    THINKD_CHECK(no_parameters(name, parameters));
    return std::shared_ptr<const Verifier>(std::make_shared<const T>(arguments...));
  };
}

template <class T, class... Arguments>
auto grader_of(std::string name, Arguments... arguments) {
  return [name = std::move(name),
          arguments...](const Parameters& parameters) -> Result<std::shared_ptr<const Grader>> {
    THINKD_CHECK(no_parameters(name, parameters));
    return std::shared_ptr<const Grader>(std::make_shared<const T>(arguments...));
  };
}

VerifierInfo kind_grader(std::string name, AnswerKind kind, std::string description,
                         std::string source) {
  VerifierInfo info;
  info.make_grader = grader_of<KindGrader>(name, kind);
  info.name = std::move(name);
  info.roles = {Role::grader};
  info.description = std::move(description);
  info.parameters = kNoParameters;
  info.source = std::move(source);
  return info;
}

std::vector<VerifierInfo> built_in() {
  std::vector<VerifierInfo> entries;
  entries.push_back({std::string(kMeanLogprob),
                     {},
                     {Role::scorer},
                     "mean log-probability per generated token under the model itself",
                     std::string(kNoParameters),
                     "length-normalised likelihood: Wu et al. 2016, arXiv 1609.08144, section 7",
                     verifier_of<MeanLogprob>(std::string(kMeanLogprob)),
                     nullptr});
  VerifierInfo step_scorer;
  step_scorer.name = kStepScorer;
  step_scorer.roles = {Role::scorer};
  step_scorer.description =
      "the chance that a text can still end right, read from the model's own "
      "state; of models with a <model>.scorer.gguf beside them";
  step_scorer.parameters = kNoParameters;
  step_scorer.source = "as STEP's step scorer, arXiv 2601.09093; verifiers/state_scorer.h";
  step_scorer.reads_states = true;
  entries.push_back(std::move(step_scorer));
  entries.push_back({"countdown",
                     {"game24"},
                     {Role::verifier, Role::grader},
                     "an arithmetic expression over the given numbers, checked in exact fractions",
                     std::string(kNoParameters),
                     "Game of 24 as in Yao et al. 2023, arXiv 2305.10601; Countdown as in Gandhi "
                     "et al. 2024, arXiv 2404.03683",
                     verifier_of<Countdown>("countdown"),
                     grader_of<Countdown>("countdown"),
                     true});
  entries.push_back({"extract",
                     {},
                     {Role::verifier},
                     "whether the text gives an answer, and which; meant for votes",
                     std::string(kNoParameters),
                     "rules in verifiers/answer.h",
                     verifier_of<Extract>("extract"),
                     nullptr});
  entries.push_back(kind_grader("math", AnswerKind::math,
                                "the same mathematical answer as the reference",
                                "rules in verifiers/equivalence.h"));
  entries.push_back(kind_grader("numeric", AnswerKind::number,
                                "the same number as the reference, compared exactly",
                                "rules in verifiers/number.h"));
  entries.push_back(kind_grader("exact", AnswerKind::text,
                                "the same words as the reference; case and spaces do not count",
                                "own"));
  entries.push_back(kind_grader("choice", AnswerKind::choice,
                                "the same choice letter as the reference",
                                "rules in verifiers/answer.h"));
  return entries;
}

}  // namespace

bool VerifierInfo::has(Role role) const {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

Verifiers::Verifiers() : entries_(built_in()) {}

const VerifierInfo* Verifiers::find(std::string_view name) const {
  for (const VerifierInfo& entry : entries_) {
    if (entry.name == name ||
        std::find(entry.aliases.begin(), entry.aliases.end(), name) != entry.aliases.end()) {
      return &entry;
    }
  }
  return nullptr;
}

Status Verifiers::add(VerifierInfo info) {
  if (find(info.name) != nullptr) {
    return conflict("a verifier named '" + info.name + "' exists");
  }
  entries_.push_back(std::move(info));
  return {};
}

void Verifiers::attach(std::shared_ptr<const StateScorer> scorer) {
  for (VerifierInfo& entry : entries_) {
    if (entry.reads_states) {
      entry.state_scorer = scorer;
    }
  }
}

const StateScorer* Verifiers::attached() const { return find(kStepScorer)->state_scorer.get(); }

std::string_view Verifiers::default_scorer() const {
  return attached() == nullptr ? kMeanLogprob : kStepScorer;
}

Result<Judge> Verifiers::judge(std::string_view name, const Parameters& parameters) const {
  const VerifierInfo* info = find(name);
  if (info == nullptr) {
    std::string known;
    for (const VerifierInfo& entry : entries_) {
      known += (known.empty() ? "" : ", ") + entry.name;
    }
    return not_found("no verifier '" + printable(name, 64) + "'; there are " + known);
  }
  if (info->reads_states) {
    THINKD_CHECK(no_parameters(info->name, parameters));
    if (info->state_scorer == nullptr) {
      return unavailable("'" + info->name + "' needs a model with a .scorer.gguf beside it");
    }
    return Judge{nullptr, info->state_scorer};
  }
  if (!info->make_verifier) {
    return invalid("'" + info->name +
                   "' is a grader: it needs the reference answer and cannot choose");
  }
  Result<std::shared_ptr<const Verifier>> made = info->make_verifier(parameters);
  return made ? Result<Judge>(Judge{*std::move(made), nullptr}) : Result<Judge>(made.status());
}

Result<std::shared_ptr<const Grader>> Verifiers::grader(std::string_view name,
                                                        const Parameters& parameters) const {
  const VerifierInfo* info = find(name);
  if (info == nullptr) {
    return not_found("no grader '" + printable(name, 64) + "'");
  }
  if (!info->make_grader) {
    return invalid("'" + info->name + "' is no grader");
  }
  return info->make_grader(parameters);
}

}  // namespace thinkd::verifiers
