#include "search/answer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "verifiers/equivalence.h"
#include "verifiers/vote.h"

namespace thinkd::search {
namespace {

template <class T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}

// The candidates that may win: those found correct, where there are any.
std::vector<size_t> standing(std::span<const Candidate> candidates) {
  std::vector<size_t> correct;
  std::vector<size_t> all;
  for (size_t i = 0; i < candidates.size(); ++i) {
    all.push_back(i);
    if (candidates[i].verdict == "correct") {
      correct.push_back(i);
    }
  }
  return correct.empty() ? all : correct;
}

// Which of the standing candidates wins, and for a vote its share.
struct Winner {
  std::optional<size_t> at;
  std::optional<double> weighted_share;
};

Winner pick(Rule rule, std::span<const int> classes, std::span<const double> scores) {
  switch (rule.by) {
    case sdk::AnswerRule::first:
      return {0, {}};
    case sdk::AnswerRule::last:
      return {classes.size() - 1, {}};
    case sdk::AnswerRule::best_score: {
      const size_t best = verifiers::best_of(scores);
      return {best == SIZE_MAX ? 0 : best, {}};
    }
    case sdk::AnswerRule::vote: {
      const verifiers::Tally tally = verifiers::majority(classes);
      return {tally.winner < 0 ? std::optional<size_t>() : tally.candidate, {}};
    }
    case sdk::AnswerRule::weighted_vote: {
      const verifiers::Tally tally = verifiers::weighted_vote(
          classes, scores,
          rule.weighting == sdk::Weighting::sigmoid ? verifiers::Weighting::sigmoid
                                                    : verifiers::Weighting::raw);
      return {tally.winner < 0 ? std::optional<size_t>() : tally.candidate, tally.share};
    }
  }
  return {};
}

Json member(const Json& value, const char* name) {
  const auto found = value.find(name);
  return found == value.end() ? Json() : *found;
}

std::optional<std::string> text_of(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

std::optional<double> number_of(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

uint64_t count_of(const Json& value) {
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

}  // namespace

Chosen choose(Rule rule, std::span<const Candidate> candidates, bool whole_text) {
  Chosen chosen;
  if (candidates.empty()) {
    return chosen;
  }
  const std::vector<size_t> stand = standing(candidates);
  std::vector<std::string> answers;
  std::vector<double> scores;
  for (size_t i : stand) {
    answers.push_back(candidates[i].answer.value_or(""));
    scores.push_back(candidates[i].score.value_or(NAN));
  }
  const std::vector<int> classes = verifiers::classify(answers);
  const bool any_answer = std::any_of(classes.begin(), classes.end(), [](int c) { return c >= 0; });
  Rule used = rule;
  const bool vote = rule.by == sdk::AnswerRule::vote || rule.by == sdk::AnswerRule::weighted_vote;
  if (!any_answer && vote) {
    if (!whole_text) {
      return chosen;
    }
    used.by = sdk::AnswerRule::first;  // nothing to vote on: the first text stands
  }
  const Winner winner = pick(used, classes, scores);
  if (!winner.at) {
    return chosen;
  }
  const Candidate& candidate = candidates[stand[*winner.at]];
  chosen.candidate = stand[*winner.at];
  chosen.answer = candidate.answer;
  if (!chosen.answer) {
    if (whole_text && !any_answer) {
      chosen.answer = std::string(trim(candidate.text));
    }
    return chosen;
  }
  if (winner.weighted_share) {
    chosen.confidence = winner.weighted_share;
    chosen.confidence_kind = "weighted_vote_share";
    return chosen;
  }
  const auto votes = std::count(classes.begin(), classes.end(), classes[*winner.at]);
  chosen.confidence = static_cast<double>(votes) / static_cast<double>(stand.size());
  chosen.confidence_kind = "vote_share";
  return chosen;
}

OrderedJson to_json(const Answer& answer) {
  OrderedJson out;
  out["answer"] = or_null(answer.answer);
  out["confidence"] = or_null(answer.confidence);
  out["confidence_kind"] =
      answer.confidence_kind.empty() ? OrderedJson() : OrderedJson(answer.confidence_kind);
  out["stopped_by"] = answer.stopped_by;
  out["candidates"] = OrderedJson::array();
  for (const Candidate& candidate : answer.candidates) {
    OrderedJson item;
    item["answer"] = or_null(candidate.answer);
    item["text"] = candidate.text;
    item["score"] = or_null(candidate.score);
    item["verdict"] = or_null(candidate.verdict);
    item["tokens"] = candidate.tokens;
    item["branch"] = candidate.branch;
    out["candidates"].push_back(std::move(item));
  }
  out["ledger"] = to_json(answer.ledger);
  out["seed"] = answer.seed;
  out["run_id"] = answer.run_id;
  out["reproducible"] = answer.reproducible_from_seed ? "seed" : "trace";
  out["model"]["name"] = answer.model_name;
  out["model"]["sha256"] = answer.model_sha256;
  out["model"]["quantization"] = answer.model_quantization;
  out["strategy"]["name"] = answer.strategy.name;
  out["strategy"]["params"] = OrderedJson::parse(answer.strategy.params, nullptr, false);
  out["exact"] = answer.approximate.empty() ? OrderedJson(true) : OrderedJson(answer.approximate);
  return out;
}

Result<Answer> answer_from_json(const Json& value) {
  if (!value.is_object() || !member(value, "candidates").is_array() ||
      !member(value, "ledger").is_object()) {
    return corrupt("stored answer: candidates or ledger is missing");
  }
  Answer answer;
  answer.answer = text_of(member(value, "answer"));
  answer.confidence = number_of(member(value, "confidence"));
  answer.confidence_kind = text_of(member(value, "confidence_kind")).value_or("");
  answer.stopped_by = text_of(member(value, "stopped_by")).value_or("done");
  for (const Json& item : value["candidates"]) {
    if (!item.is_object()) {
      return corrupt("stored answer: a candidate is not an object");
    }
    Candidate candidate;
    candidate.answer = text_of(member(item, "answer"));
    candidate.text = text_of(member(item, "text")).value_or("");
    candidate.score = number_of(member(item, "score"));
    candidate.verdict = text_of(member(item, "verdict"));
    candidate.tokens = count_of(member(item, "tokens"));
    candidate.branch = text_of(member(item, "branch")).value_or("");
    answer.candidates.push_back(std::move(candidate));
  }
  answer.ledger = ledger_from_json(value["ledger"]);
  answer.seed = count_of(member(value, "seed"));
  answer.run_id = text_of(member(value, "run_id")).value_or("");
  answer.reproducible_from_seed = member(value, "reproducible") != "trace";
  const Json model = member(value, "model");
  if (model.is_object()) {
    answer.model_name = text_of(member(model, "name")).value_or("");
    answer.model_sha256 = text_of(member(model, "sha256")).value_or("");
    answer.model_quantization = text_of(member(model, "quantization")).value_or("");
  }
  const Json strategy = member(value, "strategy");
  if (strategy.is_object()) {
    answer.strategy.name = text_of(member(strategy, "name")).value_or("");
    const Json params = member(strategy, "params");
    answer.strategy.params = params.is_object() ? to_text(params) : "{}";
  }
  const Json exact = member(value, "exact");
  if (exact.is_array()) {
    for (const Json& item : exact) {
      answer.approximate.push_back(text_of(item).value_or(""));
    }
  }
  return answer;
}

}  // namespace thinkd::search
