#include "eval/command.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <sys/stat.h>

#include "base/entropy.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/sha256.h"
#include "base/text.h"
#include "eval/log.h"
#include "eval/membership.h"
#include "eval/report.h"
#include "eval/tasks.h"

namespace thinkd::eval {
namespace {

// Read and checked, before any folder is touched.
struct Job {
  std::vector<Problem> problems;
  Manifest manifest;  // the seed is the caller's, or 0 until the folder was asked
};

std::string log_path(const std::string& folder) { return folder + "/samples.jsonl"; }

bool exists(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

Status in_range(std::string_view what, uint64_t value, uint64_t most) {
  if (value >= 1 && value <= most) {
    return {};
  }
  return invalid("--" + std::string(what) + " is " + std::to_string(value) +
                 "; it must be from 1 to " + std::to_string(most));
}

Status check(const EvalOptions& options) {
  THINKD_CHECK(in_range("samples", options.samples, limits::kSamples));
  THINKD_CHECK(in_range("concurrency", options.concurrency, limits::kEvalConcurrency));
  if (options.strategies.empty()) {
    return invalid("no strategy; name at least one");
  }
  std::set<std::string_view> seen;
  for (const std::string& strategy : options.strategies) {
    if (!seen.insert(strategy).second) {
      return invalid("strategy '" + escape_controls(strategy) + "' is named twice");
    }
    if (!valid_utf8(strategy)) {
      return invalid("strategy '" + repair_utf8(strategy) + "' is not UTF-8");
    }
    if (const auto spec = search::parse_strategy(strategy); !spec) {
      return spec.status();
    }
  }
  if (options.limit && !options.range.empty()) {
    return invalid("--limit and --range exclude each other");
  }
  if (options.limit == 0U) {
    return invalid("--limit is 0; it must be at least 1");
  }
  if (!valid_utf8(options.system) || !valid_utf8(options.verifier)) {
    return invalid("the system message and the verifier must be UTF-8");
  }
  if (options.out.empty()) {
    return invalid("no folder to write to");
  }
  return {};
}

Status select_rows(const EvalOptions& options, std::vector<Problem>& problems) {
  const uint64_t first = problems.front().row;
  const uint64_t last = problems.back().row;
  if (!options.range.empty()) {
    const Result<Rows> rows = parse_range(options.range);
    if (!rows) {
      return rows.status();
    }
    std::erase_if(problems, [&](const Problem& problem) {
      return problem.row < rows->first || problem.row > rows->last;
    });
    if (problems.empty()) {
      return invalid("--range " + options.range + " holds none of the rows " +
                     std::to_string(first) + " to " + std::to_string(last));
    }
  }
  if (options.limit && *options.limit < problems.size()) {
    problems.resize(*options.limit);
  }
  return {};
}

Result<Job> load(const EvalOptions& options, const ModelIdentity& model) {
  THINKD_CHECK(check(options));
  struct stat info{};
  if (::stat(options.data.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return invalid("'" + options.data +
                   "' is not a regular file; it is read again when the evaluation goes on");
  }
  const Result<std::string> text = read_file(options.data, limits::kEvalDataBytes);
  if (!text) {
    return text.status();
  }
  const std::string name = std::filesystem::path(options.data).filename().string();
  Result<TaskFile> file = read_problems(name, *text, options.task);
  if (!file) {
    return file.status();
  }
  Job job;
  job.problems = std::move(file->problems);
  THINKD_CHECK(select_rows(options, job.problems));
  Manifest& manifest = job.manifest;
  manifest.data_name = repair_utf8(name);
  manifest.data_sha256 = hex(sha256(*text));
  manifest.first_row = job.problems.front().row;
  manifest.last_row = job.problems.back().row;
  manifest.problems = job.problems.size();
  manifest.task = file->task;
  manifest.prompt_version = kPromptVersion;
  manifest.strategies = options.strategies;
  manifest.samples = options.samples;
  manifest.budget = options.budget;
  manifest.verifier = options.verifier;
  manifest.system = options.system;
  manifest.sampling = options.sampling;
  manifest.seed = options.seed.value_or(0);
  manifest.model = model;
  manifest.model.name = repair_utf8(model.name);
  return job;
}

// Takes the folder's seed where the caller gave none; conflict where the folder holds another
// evaluation. Says whether the folder has a manifest.
Result<bool> meet_folder(const EvalOptions& options, Manifest& manifest) {
  const Result<std::optional<Manifest>> known = read_manifest(options.out);
  if (!known) {
    return known.status();
  }
  if (*known) {
    if (!options.seed) {
      manifest.seed = (*known)->seed;
    }
    THINKD_CHECK(same_manifest(**known, manifest).within(options.out));
    return true;
  }
  if (!options.seed) {
    manifest.seed = draw_seed();
  }
  return false;
}

Status check_found(const std::vector<Sample>& found, const Job& job, const std::string& folder) {
  std::set<std::string_view> ids;
  for (const Problem& problem : job.problems) {
    ids.insert(problem.id);
  }
  return check_samples(found, job.manifest, &ids).within(log_path(folder));
}

Status write_results(const std::string& folder, const Summary& summary,
                     std::span<const Summary> shown) {
  THINKD_CHECK(write_file(folder + "/summary.json", summary_text(summary)));
  THINKD_CHECK(write_file(folder + "/summary.csv", to_csv(summary)));
  return write_file(folder + "/report.html", to_html(shown));
}

Result<Summary> read_folder(const std::string& folder) {
  const Result<std::optional<Manifest>> manifest = read_manifest(folder);
  if (!manifest) {
    return manifest.status();
  }
  if (!*manifest) {
    return not_found("'" + folder + "' is no evaluation folder: it has no manifest.json");
  }
  const Result<std::vector<Sample>> samples = read_samples(log_path(folder));
  if (!samples) {
    return samples.status();
  }
  THINKD_CHECK(check_samples(*samples, **manifest).within(log_path(folder)));
  return summarize(**manifest, *samples);
}

// What was done before, as progress starts from it.
Progress progress_of(const std::vector<Sample>& found, uint64_t total, uint64_t missing) {
  Progress progress;
  progress.total = total;
  progress.done = total - missing;
  for (const Sample& sample : found) {
    progress.correct += sample.outcome == Outcome::correct ? 1 : 0;
    progress.gradable += sample.outcome == Outcome::gold_invalid ? 0 : 1;
  }
  return progress;
}

}  // namespace

Result<Plan> plan(const EvalOptions& options, const ModelIdentity& model) {
  Result<Job> job = load(options, model);
  if (!job) {
    return job.status();
  }
  if (const Result<bool> known = meet_folder(options, job->manifest); !known) {
    return known.status();
  }
  std::vector<Sample> found;
  if (exists(log_path(options.out))) {
    Result<std::vector<Sample>> samples = read_samples(log_path(options.out));
    if (!samples) {
      return samples.status();
    }
    found = *std::move(samples);
    THINKD_CHECK(check_found(found, *job, options.out));
  }
  Plan plan;
  plan.task = job->manifest.task;
  plan.manifest_hash = hash_of(job->manifest);
  plan.seed = job->manifest.seed;
  plan.problems = job->problems.size();
  plan.units = plan.problems * options.strategies.size() * options.samples;
  plan.missing = missing_units(job->problems, options.strategies, options.samples, found).size();
  return plan;
}

Result<Summary> run(const EvalOptions& options, search::Runs& runs, const ModelIdentity& model,
                    const ProgressCallback& progress, const std::stop_token& stop) {
  Result<Job> job = load(options, model);
  if (!job) {
    return job.status();
  }
  Manifest& manifest = job->manifest;
  THINKD_CHECK(make_directories(options.out));
  const Result<std::unique_ptr<SampleLog>> log = SampleLog::open(log_path(options.out));
  if (!log) {
    // One process a folder is a limit; a conflict is a folder of another evaluation.
    const Status status = log.status();
    return status.code() == Code::conflict ? over_limit(status.message()) : status;
  }
  const std::vector<Sample>& found = (*log)->found();
  const Result<bool> known = meet_folder(options, manifest);
  if (!known) {
    return known.status();
  }
  if (!*known && !found.empty()) {
    return corrupt("'" + options.out + "' has samples but no manifest.json");
  }
  if (!*known) {
    THINKD_CHECK(write_manifest(options.out, manifest));
  }
  THINKD_CHECK(check_found(found, *job, options.out));

  const std::vector<Unit> units =
      missing_units(job->problems, options.strategies, options.samples, found);
  const uint64_t total = job->problems.size() * options.strategies.size() * options.samples;
  const Progress start = progress_of(found, total, units.size());
  if (progress) {
    progress(start);
  }
  RunnerOptions runner;
  runner.system = options.system;
  runner.concurrency = options.concurrency;
  runner.shared.budget = manifest.budget;
  runner.shared.verifier = manifest.verifier;
  runner.shared.sampling = manifest.sampling;
  runner.shared.seed = manifest.seed;
  const Status status = run_units(job->problems, units, runner, runs, **log, start, progress, stop);
  if (!status.ok() && status.code() != Code::cancelled) {
    return status;
  }
  Result<Summary> summary = read_folder(options.out);
  if (!summary) {
    return summary.status();
  }
  THINKD_CHECK(write_results(options.out, *summary, std::span(&*summary, 1)));
  THINKD_CHECK(status);
  return summary;
}

Result<std::vector<Summary>> report(std::span<const std::string> folders) {
  if (folders.empty()) {
    return invalid("no folder to report on");
  }
  std::vector<Summary> summaries;
  for (const std::string& folder : folders) {
    Result<Summary> summary = read_folder(folder);
    if (!summary) {
      return summary.status();
    }
    summaries.push_back(*std::move(summary));
  }
  for (size_t i = 0; i < folders.size(); ++i) {
    const std::span<const Summary> shown =
        i == 0 ? std::span<const Summary>(summaries) : std::span<const Summary>(&summaries[i], 1);
    THINKD_CHECK(write_results(folders[i], summaries[i], shown));
  }
  return summaries;
}

}  // namespace thinkd::eval
