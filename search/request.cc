#include "search/request.h"

#include <sys/random.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "memory/record.h"
#include "search/countdown_prompt.h"

namespace thinkd::search {
namespace {

Status wrong(std::string_view member, const Json& value, std::string_view range) {
  return invalid(std::string(member) + " must be " + std::string(range) + ", not " +
                 excerpt_of(value));
}

constexpr std::string_view kTasks[] = {"countdown", "game24", "gsm8k", "math",
                                       "number",    "choice", "text"};

constexpr double kLeastTopP = 1e-6;  // less is none as a float; greedy is temperature 0

std::string task_names() {
  std::string names;
  for (std::string_view task : kTasks) {
    names += names.empty() ? "" : ", ";
    names += task;
  }
  return names;
}

// Reads the members of a request one by one; each check names its member.
class RequestReader {
 public:
  Result<Request> run(const Json& value) {
    if (!value.is_object()) {
      return invalid("a request must be a JSON object");
    }
    for (const auto& [key, member] : value.items()) {
      THINKD_CHECK(this->member(key, member));
    }
    return finish();
  }

 private:
  Status member(const std::string& key, const Json& value) {
    if (key == "question" || key == "system") {
      return text(key, value, key == "question" ? question_ : system_);
    }
    if (key == "messages") {
      return messages(value);
    }
    if (key == "task") {
      THINKD_CHECK(text(key, value, request_.task));
      for (std::string_view task : kTasks) {
        if (request_.task == task) {
          return {};
        }
      }
      return request_.task.empty() ? Status() : wrong("task", value, "one of " + task_names());
    }
    if (key == "numbers") {
      return numbers(value);
    }
    if (key == "target") {
      has_target_ = true;
      return integer(key, value, request_.target);
    }
    if (key == "use") {
      if (value != "all" && value != "any") {
        return wrong("use", value, "\"all\" or \"any\"");
      }
      request_.use_any = value == "any";
      return {};
    }
    if (key == "strategy") {
      Result<StrategySpec> spec = strategy_from_json(value);
      if (!spec) {
        return spec.status();
      }
      request_.strategy = *std::move(spec);
      return {};
    }
    if (key == "budget") {
      Result<Budget> budget = budget_from_json(value);
      if (!budget) {
        return budget.status();
      }
      request_.budget = *budget;
      return {};
    }
    if (key == "verifier") {
      return text(key, value, request_.verifier);
    }
    if (key == "run_id") {
      return run_id(value);
    }
    if (key == "problem_id") {
      return text(key, value, request_.problem_id);
    }
    if (key == "seed" || key == "sample") {
      if (!value.is_number_unsigned()) {
        return wrong(key, value, "an integer from 0 to 18446744073709551615");
      }
      if (key == "seed") {
        request_.seed = value.get<uint64_t>();
      } else {
        request_.sample = value.get<uint64_t>();
      }
      return {};
    }
    if (key == "detach" || key == "trace") {
      if (!value.is_boolean()) {
        return wrong(key, value, "true or false");
      }
      (key == "detach" ? request_.detach : request_.trace) = value.get<bool>();
      return {};
    }
    if (key == "priority") {
      int64_t priority = 0;
      THINKD_CHECK(integer(key, value, priority));
      if (priority < -100 || priority > 100) {
        return wrong(key, value, "an integer from -100 to 100");
      }
      request_.priority = static_cast<int32_t>(priority);
      return {};
    }
    return sampling(key, value);
  }

  Status sampling(const std::string& key, const Json& value) {
    SamplingOverrides& sampling = request_.sampling;
    if (key == "temperature") {
      return real(key, value, 0, 100, "a number from 0 to 100", sampling.temperature);
    }
    if (key == "top_p") {
      return real(key, value, kLeastTopP, 1, "a number from 0.000001 to 1", sampling.top_p);
    }
    if (key == "min_p") {
      return real(key, value, 0, 1, "a number from 0 to 1", sampling.min_p);
    }
    if (key == "repetition_penalty") {
      return real(key, value, 0.1, 10, "a number from 0.1 to 10", sampling.repetition_penalty);
    }
    if (key == "max_tokens") {
      if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 ||
          value.get<uint64_t>() > UINT32_MAX) {
        return wrong(key, value, "an integer from 1 to 4294967295");
      }
      sampling.max_tokens = value.get<uint64_t>();
      return {};
    }
    if (key == "top_k") {
      if (!value.is_number_unsigned() || value.get<uint64_t>() > UINT32_MAX) {
        return wrong(key, value, "an integer from 0 (off) to 4294967295");
      }
      sampling.top_k = value.get<uint64_t>();
      return {};
    }
    if (key == "stop") {
      const Json list = value.is_string() ? Json::array({value}) : value;
      const std::string range = "1 to " + std::to_string(limits::kStopTexts) + " texts of 1 to " +
                                std::to_string(limits::kStopTextBytes) + " bytes";
      if (!list.is_array() || list.empty() || list.size() > limits::kStopTexts) {
        return wrong(key, value, range);
      }
      for (const Json& item : list) {
        if (!item.is_string() || item.get<std::string>().empty() ||
            item.get<std::string>().size() > limits::kStopTextBytes) {
          return wrong(key, value, range);
        }
        sampling.stop.push_back(item.get<std::string>());
      }
      return {};
    }
    return invalid("unknown member " + to_text(Json(key)));
  }

  Status text(std::string_view key, const Json& value, std::string& into) {
    if (!value.is_string()) {
      return wrong(key, value, "text");
    }
    into = value.get<std::string>();
    return {};
  }

  Status text(std::string_view key, const Json& value, std::optional<std::string>& into) {
    std::string content;
    THINKD_CHECK(text(key, value, content));
    into = std::move(content);
    return {};
  }

  Status integer(std::string_view key, const Json& value, int64_t& into) {
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)) {
      return wrong(key, value, "an integer of 64 bits");
    }
    into = value.get<int64_t>();
    return {};
  }

  Status real(std::string_view key, const Json& value, double low, double high,
              std::string_view range, std::optional<double>& into) {
    if (!value.is_number() || !(value.get<double>() >= low) || value.get<double>() > high) {
      return wrong(key, value, range);
    }
    into = value.get<double>();
    return {};
  }

  Status messages(const Json& value) {
    if (!value.is_array() || value.empty() || value.size() > limits::kMessages) {
      return wrong("messages", value,
                   "a list of 1 to " + std::to_string(limits::kMessages) +
                       " objects { \"role\", \"content\" }");
    }
    for (const Json& item : value) {
      if (!item.is_object() || item.size() != 2 || !item.contains("role") ||
          !item.contains("content") || !item["role"].is_string() || !item["content"].is_string()) {
        return wrong("messages", value, "a list of objects { \"role\": text, \"content\": text }");
      }
      request_.messages.push_back(
          {item["role"].get<std::string>(), item["content"].get<std::string>()});
    }
    return {};
  }

  Status numbers(const Json& value) {
    if (!value.is_array() || value.size() > 64) {
      return wrong("numbers", value, "a list of at most 64 integers");
    }
    for (const Json& item : value) {
      int64_t number = 0;
      THINKD_CHECK(integer("numbers", item, number));
      request_.numbers.push_back(number);
    }
    return {};
  }

  Status run_id(const Json& value) {
    THINKD_CHECK(text("run_id", value, request_.run_id));
    return memory::check_run_id(request_.run_id);
  }

  // The numbers are the problem: what is not asked in words is asked as eval asks it.
  Status finish_countdown() {
    if (request_.numbers.empty()) {
      return invalid("numbers is missing; task " + request_.task + " needs them");
    }
    if (!has_target_ && request_.task == "countdown") {
      return invalid("target is missing; task countdown needs it");
    }
    request_.target = has_target_ ? request_.target : 24;
    if (request_.messages.empty() && question_.value_or("").empty()) {
      question_ = countdown_prompt(problem_of(request_));
    }
    return {};
  }

  Result<Request> finish() {
    if (question_ && !request_.messages.empty()) {
      return invalid("question and messages are both given; one of them must be left out");
    }
    if (request_.task.empty() && !request_.numbers.empty()) {
      request_.task = has_target_ ? "countdown" : "game24";
    }
    if (request_.task == "countdown" || request_.task == "game24") {
      THINKD_CHECK(finish_countdown());
    }
    if (system_ && !question_) {
      return invalid("system is given without question; put it into messages");
    }
    if (question_ && question_->empty()) {
      return invalid("question is empty");
    }
    if (question_) {
      request_.messages = as_messages(*question_, system_.value_or(""));
    }
    if (request_.messages.empty()) {
      return invalid("question (or messages) is missing");
    }
    return std::move(request_);
  }

  Request request_;
  std::optional<std::string> question_;
  std::optional<std::string> system_;
  bool has_target_ = false;
};

}  // namespace

Result<Request> request_from_json(const Json& value) { return RequestReader().run(value); }

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

std::string new_run_id() {
  std::array<uint8_t, 16> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    have += got > 0 ? static_cast<size_t>(got) : 0;
  }
  return hex(bytes);
}

}  // namespace thinkd::search
