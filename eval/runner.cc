#include "eval/runner.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "search/runs.h"

namespace thinkd::eval {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// How the latest extend of each branch ended. Written on the run's thread, read after the run is
// over.
using Ends = std::map<std::string, std::string, std::less<>>;

search::Observer keep_ends(std::shared_ptr<Ends> ends) {
  return [ends = std::move(ends)](const search::Event& event) {
    if (event.kind == search::EventKind::extended) {
      (*ends)[event.branch] = event.note;
    }
  };
}

// The chosen candidate's text ended at a limit on tokens; where none was chosen, all of them did.
bool was_cut(const search::Answer& answer, const Ends& ends) {
  const auto cut = [&](const search::Candidate& candidate) {
    const auto end = ends.find(candidate.branch);
    return candidate.cut ||
           (end != ends.end() && (end->second == "max_tokens" || end->second == "context" ||
                                  end->second == "allowance"));
  };
  if (answer.chosen) {
    return cut(answer.candidates[*answer.chosen]);
  }
  return !answer.candidates.empty() &&
         std::all_of(answer.candidates.begin(), answer.candidates.end(), cut);
}

// What a reader of the log wants to see: the chosen text, else the first one.
std::string_view text_to_log(const search::Answer& answer) {
  if (answer.candidates.empty()) {
    return "";
  }
  return answer.candidates[answer.chosen.value_or(0)].text;
}

Outcome outcome_of_grade(verifiers::Outcome outcome) {
  switch (outcome) {
    case verifiers::Outcome::correct:
      return Outcome::correct;
    case verifiers::Outcome::wrong:
      return Outcome::wrong;
    case verifiers::Outcome::parse_failed:
      return Outcome::parse_failed;
    case verifiers::Outcome::gold_invalid:
      return Outcome::gold_invalid;
    case verifiers::Outcome::no_answer:
    case verifiers::Outcome::none:
      break;
  }
  return Outcome::no_answer;
}

// The workers' shared state: which unit is next, what was counted, what went wrong first.
class Job {
 public:
  Job(const std::vector<Problem>& problems, const std::vector<Unit>& units,
      const RunnerOptions& options, search::Runs& runs, SampleLog& log, Progress progress,
      const ProgressCallback& callback, const std::stop_token& stop)
      : problems_(problems),
        units_(units),
        options_(options),
        runs_(runs),
        log_(log),
        callback_(callback),
        stop_(stop),
        progress_(progress) {}

  Status prepare();
  void work();
  Status end() const;

 private:
  Status run_one(const Unit& unit);
  void count(const Sample& sample);

  const std::vector<Problem>& problems_;
  const std::vector<Unit>& units_;
  const RunnerOptions& options_;
  search::Runs& runs_;
  SampleLog& log_;
  const ProgressCallback& callback_;
  const std::stop_token& stop_;
  const Clock::time_point started_ = Clock::now();
  std::map<std::string, search::StrategySpec, std::less<>> strategies_;  // fixed after prepare()
  std::atomic<size_t> next_ = 0;
  std::atomic<bool> failing_ = false;
  std::mutex mutex_;
  Progress progress_;      // mutex_
  uint64_t finished_ = 0;  // mutex_: of this run
  Status failure_;         // mutex_; the first one
};

Status Job::prepare() {
  for (const Unit& unit : units_) {
    if (strategies_.contains(unit.strategy)) {
      continue;
    }
    Result<search::StrategySpec> spec = search::parse_strategy(unit.strategy);
    if (!spec) {
      return spec.status();
    }
    strategies_.emplace(unit.strategy, *std::move(spec));
  }
  return {};
}

void Job::work() {
  while (!stop_.stop_requested() && !failing_) {
    const size_t index = next_.fetch_add(1);
    if (index >= units_.size()) {
      return;
    }
    if (Status status = run_one(units_[index]); !status.ok()) {
      const std::lock_guard guard(mutex_);
      failing_ = true;
      failure_ = failure_.ok() ? std::move(status) : failure_;
    }
  }
}

Status Job::end() const {
  if (!failure_.ok()) {
    return failure_;
  }
  if (progress_.done < progress_.total) {
    return cancelled("stopped after " + std::to_string(progress_.done) + " of " +
                     std::to_string(progress_.total) +
                     " samples; the same command goes on from here");
  }
  return {};
}

// A request that cannot start is wrong for every unit; a run that fails is this unit's outcome.
Status Job::run_one(const Unit& unit) {
  const Problem& problem = problems_[unit.problem];
  search::Request request = request_of(options_.shared, problem, strategies_.at(unit.strategy),
                                       unit.sample, options_.system);
  Sample sample;
  sample.problem_id = problem.id;
  sample.strategy = unit.strategy;
  sample.sample = unit.sample;
  sample.seed = request.seed.value_or(0);

  const auto ends = std::make_shared<Ends>();
  const Clock::time_point started = Clock::now();
  const Result<std::string> run_id = runs_.start(std::move(request), keep_ends(ends));
  if (!run_id) {
    return run_id.status().within(unit.strategy);
  }
  Result<search::Answer> answer = internal_error("not run");
  {
    const std::stop_callback cancel(stop_, [&] { static_cast<void>(runs_.cancel(*run_id)); });
    answer = runs_.wait(*run_id);
  }
  static_cast<void>(runs_.remove(*run_id));
  if (!answer &&
      (answer.status().code() == Code::cancelled || answer.status().code() == Code::unavailable)) {
    return answer.status();
  }
  if (answer && answer->stopped_by == "cancelled") {
    return {};  // what a stop left is no sample; the unit runs again
  }
  if (answer) {
    const Verdict verdict = judge(problem, *answer, was_cut(*answer, *ends));
    sample.outcome = verdict.outcome;
    sample.reason = verdict.reason;
    sample.answer = answer->answer;
    sample.confidence = answer->confidence;
    sample.text = std::string(text_to_log(*answer));
    sample.stopped_by = answer->stopped_by;
    sample.candidates = answer->candidates.size();
    sample.ledger = answer->ledger;
    sample.seconds = answer->ledger.seconds_wall;
  } else {
    sample.outcome = Outcome::error;
    sample.reason = answer.status().message();
    sample.stopped_by = "error";
    sample.seconds = seconds_since(started);
  }
  THINKD_CHECK(log_.add(sample));
  count(sample);
  return {};
}

void Job::count(const Sample& sample) {
  const std::lock_guard guard(mutex_);
  ++finished_;
  ++progress_.done;
  progress_.correct += sample.outcome == Outcome::correct ? 1 : 0;
  progress_.gradable += sample.outcome == Outcome::gold_invalid ? 0 : 1;
  progress_.units_per_second =
      static_cast<double>(finished_) / std::max(1e-9, seconds_since(started_));
  progress_.eta_seconds =
      static_cast<double>(progress_.total - progress_.done) / progress_.units_per_second;
  if (callback_) {
    callback_(progress_);
  }
}

}  // namespace

std::vector<Unit> missing_units(const std::vector<Problem>& problems,
                                const std::vector<std::string>& strategies, uint64_t samples,
                                const std::vector<Sample>& found) {
  std::set<std::tuple<std::string_view, std::string_view, uint64_t>> done;
  for (const Sample& sample : found) {
    done.emplace(sample.problem_id, sample.strategy, sample.sample);
  }
  std::vector<Unit> units;
  for (uint64_t sample = 0; sample < samples; ++sample) {
    for (size_t problem = 0; problem < problems.size(); ++problem) {
      for (const std::string& strategy : strategies) {
        if (!done.contains({problems[problem].id, strategy, sample})) {
          units.push_back({problem, strategy, sample});
        }
      }
    }
  }
  return units;
}

search::Request request_of(const search::Request& shared, const Problem& problem,
                           const search::StrategySpec& strategy, uint64_t sample,
                           std::string_view system) {
  search::Request request = shared;
  request.messages = search::as_messages(problem.prompt, system);
  request.task = problem.task;
  request.numbers = problem.graded.problem.numbers;
  request.target = problem.graded.problem.target;
  request.use_any = problem.graded.problem.use == verifiers::NumberUse::any;
  request.strategy = strategy;
  request.problem_id = problem.id;
  request.sample = sample;
  request.trace = false;
  return request;
}

Verdict judge(const Problem& problem, const search::Answer& answer, bool cut) {
  const bool timed_out = answer.stopped_by == "seconds";
  const bool nothing = answer.candidates.empty();
  const verifiers::Verdict grade = verifiers::grade(problem.graded, text_to_log(answer));
  Verdict verdict{outcome_of_grade(grade.outcome), grade.reason};
  if (verdict.outcome == Outcome::gold_invalid) {
    return verdict;
  }
  if (!answer.chosen) {
    verdict.outcome = Outcome::no_answer;
    verdict.reason = nothing ? "no candidate was finished" : "no candidate gives an answer";
  } else if (verdict.outcome == Outcome::correct) {
    return verdict;
  }
  if (timed_out) {
    verdict.outcome = Outcome::timeout;
  } else if (cut || (nothing && answer.stopped_by != "done")) {
    verdict.outcome = Outcome::token_limit;
  }
  return verdict;
}

Status run_units(const std::vector<Problem>& problems, const std::vector<Unit>& units,
                 const RunnerOptions& options, search::Runs& runs, SampleLog& log,
                 Progress progress, const ProgressCallback& callback, const std::stop_token& stop) {
  Job job(problems, units, options, runs, log, progress, callback, stop);
  THINKD_CHECK(job.prepare());
  const size_t workers = std::min<size_t>(std::max(1u, options.concurrency), units.size());
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < workers; ++i) {
      threads.emplace_back([&job] { job.work(); });
    }
  }
  return job.end();
}

}  // namespace thinkd::eval
