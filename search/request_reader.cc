// A request read from JSON, each member checked and named in its error.

#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/text.h"
#include "memory/record.h"
#include "search/countdown_prompt.h"
#include "search/request.h"

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
    if (!value.is_array() || value.size() > limits::kRequestNumbers) {
      return wrong("numbers", value,
                   "a list of at most " + std::to_string(limits::kRequestNumbers) + " integers");
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

}  // namespace thinkd::search
