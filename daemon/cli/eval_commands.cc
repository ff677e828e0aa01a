// eval and eval report: the flags; eval/command.h does the work.

#include <mutex>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "base/version.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/request_flags.h"
#include "daemon/exit_code.h"
#include "daemon/house.h"
#include "daemon/signals.h"
#include "eval/command.h"
#include "eval/published.h"

namespace thinkd::daemon {
namespace {

Result<eval::EvalOptions> read_options(const Arguments& arguments) {
  eval::EvalOptions options;
  for (const char* needed : {"data", "strategy", "out"}) {
    if (!arguments.has(needed)) {
      return invalid("--" + std::string(needed) + " is missing");
    }
  }
  options.data = arguments.text("data");
  options.out = arguments.text("out");
  options.strategies = arguments.texts("strategy");
  options.task = arguments.text("task");
  options.range = arguments.text("range");
  options.verifier = arguments.text("verifier");
  options.system = arguments.text("system");
  const auto limit = arguments.count("limit", 1, UINT64_MAX);
  THINKD_CHECK(limit.status());
  options.limit = *limit;
  const auto samples = arguments.count("samples", 1, limits::kSamples);
  THINKD_CHECK(samples.status());
  options.samples = samples->value_or(1);
  const auto concurrency = arguments.count("concurrency", 1, limits::kEvalConcurrency);
  THINKD_CHECK(concurrency.status());
  options.concurrency = static_cast<uint32_t>(concurrency->value_or(options.concurrency));
  const auto seed = arguments.count("seed", 0, UINT64_MAX);
  THINKD_CHECK(seed.status());
  options.seed = *seed;
  if (arguments.has("budget")) {
    const Result<search::Budget> budget = search::parse_budget(arguments.text("budget"));
    if (!budget) {
      return as_typed(budget.status(), "budget");
    }
    options.budget = *budget;
  }
  Result<search::SamplingOverrides> sampling = read_sampling(arguments);
  THINKD_CHECK(sampling.status());
  options.sampling = *std::move(sampling);
  return options;
}

eval::ModelIdentity identity_of(const engine::LanguageModel& model, const Config& config) {
  eval::ModelIdentity identity;
  identity.name = model.info.name;
  identity.sha256 = model.info.sha256;
  identity.quantization = model.info.quantization;
  identity.build = build_id();
  identity.isa = isa_name(config);
  const bool f32 = config.compute == engine::ComputeMode::f32;
  identity.compute = f32 ? "f32" : "auto";
  const engine::KvType kv = config.kv.value_or(f32 ? engine::KvType::f32 : engine::KvType::f16);
  identity.kv = kv == engine::KvType::f32 ? "f32" : "f16";
  return identity;
}

void print_plan(const Arguments& arguments, const eval::Plan& plan) {
  if (arguments.json()) {
    print(to_text(OrderedJson{{"task", plan.task},
                              {"manifest_hash", plan.manifest_hash},
                              {"seed", plan.seed},
                              {"problems", plan.problems},
                              {"units", plan.units},
                              {"missing", plan.missing}}));
    return;
  }
  print("task " + plan.task + ", " + std::to_string(plan.problems) + " problems, " +
        std::to_string(plan.units) + " samples, " + std::to_string(plan.missing) +
        " of them missing; seed " + std::to_string(plan.seed) + "; manifest " + plan.manifest_hash);
}

std::string progress_text(const eval::Progress& progress) {
  std::string text = std::to_string(progress.done) + "/" + std::to_string(progress.total);
  if (progress.gradable > 0) {
    text += ", " +
            shown_number(100.0 * static_cast<double>(progress.correct) /
                             static_cast<double>(progress.gradable),
                         1) +
            "% correct";
  }
  if (progress.units_per_second > 0) {
    text += ", " + shown_number(60 * progress.units_per_second, 1) + " a minute";
  }
  return progress.eta_seconds > 0 ? text + ", " + shown_number(progress.eta_seconds, 0) + " s left"
                                  : text;
}

int run_jobs(const Arguments& arguments, const eval::EvalOptions& options, House& house,
             const eval::ModelIdentity& identity, SignalWatch& signals) {
  std::stop_source stop;
  signals.set_handler([stop]() mutable { stop.request_stop(); });
  std::mutex lock;
  eval::Progress latest;
  Result<eval::Summary> summary = Status(Code::internal, "nothing ran");
  {
    const ProgressLine line([&](double) {
      const std::lock_guard guard(lock);
      return progress_text(latest);
    });
    summary = eval::run(
        options, *house.runs, identity,
        [&](const eval::Progress& progress) {
          const std::lock_guard guard(lock);
          latest = progress;
        },
        stop.get_token());
  }
  if (!summary) {
    return fail(summary.status());
  }
  print(arguments.json() ? to_text(eval::to_json(*summary)) : eval::to_table(*summary));
  if (!arguments.json()) {
    print(eval::published_text(summary->manifest) + "seed " +
          std::to_string(summary->manifest.seed) + ", folder " + options.out);
  }
  return kExitDone;
}

}  // namespace

int run_eval(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const Result<eval::EvalOptions> options = read_options(arguments);
  if (!options) {
    return fail(options.status());
  }
  SignalWatch signals;
  const Result<std::unique_ptr<House>> house = build_house(*config, nullptr);
  if (!house) {
    return fail(house.status());
  }
  eval::ModelIdentity identity = identity_of((*house)->engine->model(), *config);
  if (const verifiers::StateScorer* scorer = (*house)->verifiers.attached()) {
    identity.scorer = scorer->sha256();
  }
  identity.page_quota = search::default_page_quota(*(*house)->engine, runs_options(*config));
  if (arguments.has("dry-run")) {
    const Result<eval::Plan> plan = eval::plan(*options, identity);
    if (!plan) {
      return fail(plan.status());
    }
    print_plan(arguments, *plan);
    return kExitDone;
  }
  return run_jobs(arguments, *options, **house, identity, signals);
}

int run_eval_report(const Arguments& arguments) {
  const Result<Config> config = load_config(arguments);
  if (!config) {
    return fail(config.status());
  }
  const std::vector<std::string> folders = arguments.texts("DIR");
  const Result<std::vector<eval::Summary>> summaries = eval::report(folders);
  if (!summaries) {
    return fail(summaries.status());
  }
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < summaries->size(); ++i) {
    const eval::Summary& summary = (*summaries)[i];
    if (arguments.json()) {
      list.push_back(eval::to_json(summary));
    } else {
      print((i == 0 ? "" : "\n") + folders[i] + "\n" + eval::to_table(summary) +
            eval::published_text(summary.manifest));
    }
  }
  if (arguments.json()) {
    print(to_text(list.size() == 1 ? list[0] : list));
  }
  return kExitDone;
}

}  // namespace thinkd::daemon
