#include "eval/tasks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "eval/csv.h"
#include "search/countdown_prompt.h"
#include "verifiers/answer.h"

namespace thinkd::eval {
namespace {

using verifiers::AnswerKind;

constexpr std::array<std::string_view, 8> kTasks = {
    "gsm8k", "math", "number", "choice", "text", "countdown", "countdown_cd3", "game24"};

// How a question of each kind is asked to end: in words that the extraction rules find.
constexpr std::string_view kAskNumber =
    "\n\nSolve the problem step by step. End with a line \"The answer is N.\", where N is a "
    "number.";
constexpr std::string_view kAskMath =
    "\n\nSolve the problem step by step. End with a line \"The answer is \\boxed{ANSWER}.\"";
constexpr std::string_view kAskChoice =
    "\n\nThink step by step. End with a line \"The answer is X.\", where X is the letter of your "
    "choice.";
constexpr std::string_view kAskText =
    "\n\nThink step by step. End with a line \"The answer is ANSWER.\"";

// What an error says: "data.jsonl:3: ...".
struct Place {
  std::string_view name;
  uint64_t line = 0;

  Status wrong(const std::string& what) const {
    return invalid(std::string(name) + ':' + std::to_string(line) + ": " + what);
  }
};

std::string list_of_tasks() {
  std::string out;
  for (const std::string_view task : kTasks) {
    out += (out.empty() ? "" : ", ") + std::string(task);
  }
  return out;
}

std::string members_of(const Json& record) {
  std::string out;
  for (const auto& [key, value] : record.items()) {
    if (out.size() > 200) {
      return out + ", ...";
    }
    out += (out.empty() ? "" : ", ") + escape_controls(key);
  }
  return out;
}

// A text, or a number as text; nullopt where it is neither or absent.
std::optional<std::string> text_of(const Json& record, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = record.find(name);
    if (found == record.end()) {
      continue;
    }
    if (found->is_string()) {
      return found->get<std::string>();
    }
    if (found->is_number_unsigned()) {
      return std::to_string(found->get<uint64_t>());
    }
    if (found->is_number_integer()) {
      return std::to_string(found->get<int64_t>());
    }
    if (found->is_number_float()) {
      return format_double(found->get<double>());
    }
  }
  return std::nullopt;
}

std::optional<std::vector<int64_t>> integers_of(std::string_view text, char separator) {
  std::vector<int64_t> out;
  for (const std::string_view part : split(trim(text), separator)) {
    const std::optional<int64_t> number = parse_int(trim(part));
    if (!number) {
      return std::nullopt;
    }
    out.push_back(*number);
  }
  return out;
}

Result<Problem> countdown(const Place& place, std::vector<int64_t> numbers, int64_t target,
                          verifiers::NumberUse use) {
  if (numbers.empty() || numbers.size() > limits::kCountdownNumbers) {
    return place.wrong(std::to_string(numbers.size()) + " numbers; 1 to " +
                       std::to_string(limits::kCountdownNumbers) + " are allowed");
  }
  Problem problem;
  problem.task = "countdown";
  problem.graded.problem.kind = AnswerKind::countdown;
  problem.graded.problem.numbers = std::move(numbers);
  problem.graded.problem.target = target;
  problem.graded.problem.use = use;
  problem.prompt = search::countdown_prompt(problem.graded.problem);
  return problem;
}

Result<Problem> question(const Place& place, const Json& record, std::string_view task) {
  const std::optional<std::string> text = text_of(record, {"question", "problem"});
  const std::optional<std::string> answer = text_of(record, {"answer", "expected_answer"});
  if (!text || !answer) {
    return place.wrong("no \"" + std::string(text ? "answer" : "question") +
                       "\" that is a text; the record has " + members_of(record));
  }
  Problem problem;
  problem.task = std::string(task);
  problem.prompt = *text;
  problem.graded.reference = *answer;
  AnswerKind& kind = problem.graded.problem.kind;
  if (task == "gsm8k") {
    // Only what follows the mark is the reference; the worked solution would be extracted alike.
    const size_t mark = answer->rfind("####");
    if (mark == std::string::npos) {
      return place.wrong("the answer does not end in \"#### N\"");
    }
    problem.graded.reference = std::string(trim(std::string_view(*answer).substr(mark + 4)));
    kind = AnswerKind::number;
    problem.prompt += kAskNumber;
  } else if (task == "number") {
    kind = AnswerKind::number;
    problem.prompt += kAskNumber;
  } else if (task == "choice") {
    kind = AnswerKind::choice;
    problem.prompt += kAskChoice;
  } else if (task == "text") {
    kind = AnswerKind::text;
    problem.prompt += kAskText;
  } else {
    kind = AnswerKind::math;
    problem.prompt += kAskMath;
  }
  return problem;
}

Result<Problem> countdown_record(const Place& place, const Json& record) {
  const auto numbers = record.find("numbers");
  const auto target = record.find("target");
  if (numbers == record.end() || !numbers->is_array() ||
      !std::all_of(numbers->begin(), numbers->end(),
                   [](const Json& number) { return number.is_number_integer(); })) {
    return place.wrong("no \"numbers\" that is a list of integers; the record has " +
                       members_of(record));
  }
  if (target == record.end() || !target->is_number_integer()) {
    return place.wrong("no \"target\" that is an integer; the record has " + members_of(record));
  }
  const auto use = record.find("use");
  if (use != record.end() && *use != "any" && *use != "all") {
    return place.wrong("\"use\" must be \"any\" or \"all\"");
  }
  return countdown(
      place, numbers->get<std::vector<int64_t>>(), target->get<int64_t>(),
      use != record.end() && *use == "any" ? verifiers::NumberUse::any : verifiers::NumberUse::all);
}

Result<Problem> cd3_record(const Place& place, const Json& record) {
  const std::optional<std::string> input = text_of(record, {"input"});
  const std::optional<std::string> output = text_of(record, {"output"});
  const auto numbers = input ? integers_of(*input, ',') : std::nullopt;
  const auto target = output ? parse_int(trim(*output)) : std::nullopt;
  if (!numbers || !target) {
    return place.wrong(std::string("no \"") + (numbers ? "output" : "input") +
                       "\" that is a text of integers; the record has " + members_of(record));
  }
  return countdown(place, *numbers, *target, verifiers::NumberUse::all);
}

// "" where nothing fits.
std::string_view guess(const Json& record) {
  if (record.contains("numbers") && record.contains("target")) {
    return "countdown";
  }
  if (const auto input = text_of(record, {"input"});
      input && record.contains("output") && integers_of(*input, ',')) {
    return "countdown_cd3";
  }
  const auto answer = text_of(record, {"answer", "expected_answer"});
  if (text_of(record, {"question", "problem"}) && answer) {
    return answer->find("\n#### ") != std::string::npos ? "gsm8k" : "math";
  }
  return "";
}

// The text's first record is the head of 24.csv.
bool is_game24(std::string_view text) {
  CsvReader reader(text);
  const auto head = reader.at_end() ? Status(Code::invalid, "empty") : reader.next();
  return head && head->size() > 1 && (*head)[0] == "Rank" && (*head)[1] == "Puzzles";
}

Result<Problem> csv_row(const Place& place, const std::vector<std::string>& fields) {
  const std::optional<uint64_t> rank = parse_uint(trim(fields.front()));
  const auto numbers = fields.size() > 1 ? integers_of(fields[1], ' ') : std::nullopt;
  if (!rank || !numbers) {
    return place.wrong("not a line \"Rank,Puzzles,...\" such as \"1,1 1 4 6\"");
  }
  Result<Problem> problem = countdown(place, *numbers, 24, verifiers::NumberUse::all);
  if (problem) {
    problem->row = *rank;
    problem->id = std::to_string(*rank);
  }
  return problem;
}

// One line of JSON; sets `task` where it is still to be guessed.
Result<Problem> json_row(const Place& place, std::string_view line, std::string& task) {
  Result<Json> record = parse_json(line);
  if (!record) {
    return place.wrong(record.status().message());
  }
  if (!record->is_object()) {
    return place.wrong("a record must be a JSON object");
  }
  if (task.empty()) {
    task = guess(*record);
    if (task.empty()) {
      return place.wrong("no known task has a record of " + members_of(*record) +
                         "; --task names one of " + list_of_tasks());
    }
  }
  Result<Problem> problem = task == "countdown"       ? countdown_record(place, *record)
                            : task == "countdown_cd3" ? cd3_record(place, *record)
                                                      : question(place, *record, task);
  if (problem) {
    problem->id = text_of(*record, {"id", "unique_id"}).value_or("");
  }
  return problem;
}

// The file so far; a problem is named by its row where its record does not name it.
class Collector {
 public:
  explicit Collector(std::string_view name) : name_(name) {}

  Status add(const Place& place, Problem problem) {
    if (problems_.size() >= limits::kEvalProblems) {
      return over_limit(std::string(name_) + " has more than " +
                        std::to_string(limits::kEvalProblems) + " records");
    }
    if (problem.row == 0) {
      problem.row = problems_.size() + 1;
    }
    if (problem.id.empty()) {
      problem.id = std::to_string(problem.row);
    }
    if (!ids_.insert(problem.id).second) {
      return place.wrong("the id '" + escape_controls(problem.id) + "' appears twice");
    }
    problem.graded.problem.name = problem.id;
    problem.graded.problem.question = problem.prompt;
    problems_.push_back(std::move(problem));
    return {};
  }

  std::vector<Problem> take() { return std::move(problems_); }

 private:
  const std::string_view name_;
  std::set<std::string, std::less<>> ids_;
  std::vector<Problem> problems_;
};

Status read_csv(std::string_view name, std::string_view text, Collector& into) {
  CsvReader reader(text);
  for (bool head = true; !reader.at_end(); head = false) {
    const Result<std::vector<std::string>> fields = reader.next();
    const Place place{name, reader.line()};
    if (!fields) {
      return place.wrong(fields.status().message());
    }
    if (head || (fields->size() == 1 && trim(fields->front()).empty())) {
      continue;
    }
    Result<Problem> problem = csv_row(place, *fields);
    THINKD_CHECK(problem.status());
    THINKD_CHECK(into.add(place, *std::move(problem)));
  }
  return {};
}

// Sets `task` where it is still to be guessed.
Status read_lines(std::string_view name, std::string_view text, std::string& task,
                  Collector& into) {
  Place place{name, 0};
  for (const std::string_view line : split(text, '\n')) {
    ++place.line;
    if (trim(line).empty()) {
      continue;
    }
    Result<Problem> problem = json_row(place, line, task);
    THINKD_CHECK(problem.status());
    THINKD_CHECK(into.add(place, *std::move(problem)));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> known_tasks() { return {kTasks.begin(), kTasks.end()}; }

Result<TaskFile> read_problems(std::string_view name, std::string_view text,
                               std::string_view task) {
  TaskFile file;
  file.task = std::string(task);
  if (!task.empty() && std::find(kTasks.begin(), kTasks.end(), task) == kTasks.end()) {
    return invalid("no task '" + escape_controls(task) + "'; known are " + list_of_tasks());
  }
  const bool csv = is_game24(text);
  if (csv && file.task.empty()) {
    file.task = "game24";
  }
  if (csv != (file.task == "game24")) {
    return invalid(std::string(name) + " starts with '" +
                   escape_controls(text.substr(0, text.find('\n')).substr(0, 80)) +
                   "', which is not " + file.task + "; known tasks are " + list_of_tasks());
  }
  Collector collector(name);
  THINKD_CHECK(csv ? read_csv(name, text, collector)
                   : read_lines(name, text, file.task, collector));
  file.problems = collector.take();
  if (file.problems.empty()) {
    return invalid(std::string(name) + " has no records");
  }
  return file;
}

Result<Rows> parse_range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = parse_uint(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? std::nullopt : parse_uint(text.substr(dash + 1));
  if (!first || !last || *first == 0 || *last < *first) {
    return invalid("range '" + escape_controls(text) + "': must be A-B with 1 <= A <= B");
  }
  return Rows{*first, *last};
}

}  // namespace thinkd::eval
