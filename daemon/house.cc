#include "daemon/house.h"

#include <filesystem>
#include <utility>

#include "daemon/models/model_folder.h"
#include "engine/kernels/kernels.h"
#include "memory/paths.h"

namespace thinkd::daemon {

Result<std::string> store_dir(const Config& config) {
  return config.store.empty() ? memory::default_store_dir() : Result<std::string>(config.store);
}

Result<std::unique_ptr<engine::Engine>> load_engine(const Config& config) {
  const Result<std::string> folder = store_dir(config);
  // A model that is a path needs no store's folder.
  const Result<std::string> path = resolve_model(config.model, folder ? *folder : std::string());
  if (!path) {
    return path.status();
  }
  engine::ModelOptions model_options;
  model_options.threads = config.threads;
  model_options.compute = config.compute;
  model_options.kv = config.kv;
  model_options.isa = config.isa;
  Result<std::unique_ptr<engine::LanguageModel>> model =
      engine::load_language_model(*path, model_options);
  if (!model) {
    return model.status();
  }
  engine::EngineOptions engine_options;
  engine_options.kv_pool_bytes = config.kv_pool;
  return engine::Engine::create(*std::move(model), engine_options);
}

std::string isa_name(const Config& config) {
  const Result<const engine::Kernels*> kernels = engine::find_kernels(config.isa);
  return kernels ? std::string((*kernels)->name) : config.isa;
}

search::RunsOptions runs_options(const Config& config) {
  search::RunsOptions options;
  options.page_share = config.page_share;
  options.strategy_threads = config.strategy_threads;
  return options;
}

Result<search::Registry> builtin_strategies() {
  search::Registry registry;
  THINKD_CHECK(registry.add_builtin());
  return registry;
}

namespace {

// A scorer that lies beside the model and cannot be used is an error: without it the same command
// would quietly choose by something else.
Status attach_scorer(House& house) {
  const engine::LanguageModel& model = house.engine->model();
  const std::string path = verifiers::StateScorer::path_beside(model.info.path);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return {};
  }
  Result<std::shared_ptr<const verifiers::StateScorer>> scorer =
      verifiers::StateScorer::open(path, model.info.sha256, model.runner->shape().width);
  THINKD_CHECK(scorer.status());
  house.verifiers.attach(*std::move(scorer));
  return {};
}

}  // namespace

Result<std::unique_ptr<House>> build_house(const Config& config,
                                           std::unique_ptr<memory::Store> store) {
  auto house = std::make_unique<House>();
  house->store = std::move(store);
  Result<search::Registry> registry = builtin_strategies();
  if (!registry) {
    return registry.status();
  }
  house->registry = *std::move(registry);
  Result<std::unique_ptr<engine::Engine>> engine = load_engine(config);
  if (!engine) {
    return engine.status();
  }
  house->engine = *std::move(engine);
  THINKD_CHECK(attach_scorer(*house));
  house->runs = std::make_unique<search::Runs>(*house->engine, house->verifiers, house->registry,
                                               house->store.get(), runs_options(config));
  return house;
}

}  // namespace thinkd::daemon
