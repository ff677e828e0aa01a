#include "search/request.h"

#include <nlohmann/json.hpp>

#include "base/entropy.h"

namespace thinkd::search {

Json to_json(const Request& request) {
  Json out = {{"strategy", to_json(request.strategy)},
              {"detach", request.detach},
              {"trace", request.trace},
              {"priority", request.priority},
              {"sample", request.sample}};
  out["messages"] = Json::array();
  for (const engine::Message& message : request.messages) {
    out["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  if (!request.numbers.empty()) {
    out["numbers"] = request.numbers;
    out["target"] = request.target;
    out["use"] = request.use_any ? "any" : "all";
  }
  const Json budget = to_json(request.budget);
  if (!budget.empty()) {
    out["budget"] = budget;
  }
  const std::pair<std::string_view, const std::string&> texts[] = {
      {"task", request.task},
      {"verifier", request.verifier},
      {"run_id", request.run_id},
      {"problem_id", request.problem_id}};
  for (const auto& [name, text] : texts) {
    if (!text.empty()) {
      out[std::string(name)] = text;
    }
  }
  if (request.seed) {
    out["seed"] = *request.seed;
  }
  const SamplingOverrides& sampling = request.sampling;
  if (sampling.temperature) {
    out["temperature"] = *sampling.temperature;
  }
  if (sampling.top_p) {
    out["top_p"] = *sampling.top_p;
  }
  if (sampling.min_p) {
    out["min_p"] = *sampling.min_p;
  }
  if (sampling.top_k) {
    out["top_k"] = *sampling.top_k;
  }
  if (sampling.repetition_penalty) {
    out["repetition_penalty"] = *sampling.repetition_penalty;
  }
  if (sampling.max_tokens) {
    out["max_tokens"] = *sampling.max_tokens;
  }
  if (!sampling.stop.empty()) {
    out["stop"] = sampling.stop;
  }
  return out;
}

std::vector<engine::Message> as_messages(std::string_view question, std::string_view system) {
  std::vector<engine::Message> messages;
  if (!system.empty()) {
    messages.push_back({"system", std::string(system)});
  }
  messages.push_back({"user", std::string(question)});
  return messages;
}

std::string question_of(const Request& request) {
  for (size_t i = request.messages.size(); i > 0; --i) {
    if (request.messages[i - 1].role == "user") {
      return request.messages[i - 1].content;
    }
  }
  return request.messages.empty() ? "" : request.messages.back().content;
}

verifiers::Problem problem_of(const Request& request) {
  verifiers::Problem problem;
  problem.name = request.task.empty() ? "question" : request.task;
  problem.question = question_of(request);
  if (request.task == "countdown" || request.task == "game24") {
    problem.kind = verifiers::AnswerKind::countdown;
  } else if (request.task == "gsm8k" || request.task == "number") {
    problem.kind = verifiers::AnswerKind::number;
  } else if (request.task == "choice") {
    problem.kind = verifiers::AnswerKind::choice;
  } else if (request.task == "text") {
    problem.kind = verifiers::AnswerKind::text;
  }
  problem.numbers = request.numbers;
  problem.target = request.target;
  problem.use = request.use_any ? verifiers::NumberUse::any : verifiers::NumberUse::all;
  return problem;
}

std::string stream_of(const Request& request) {
  return request.problem_id + '/' + std::to_string(request.sample);
}

std::string new_run_id() { return draw_hex(16); }

}  // namespace thinkd::search
