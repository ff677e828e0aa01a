#include "daemon/cli/place.h"

#include "daemon/cli/output.h"
#include "daemon/house.h"
#include "daemon/models/model_folder.h"
#include "search/run_record.h"

namespace thinkd::daemon {

Result<Place> find_place(const Arguments& arguments, const Config& config) {
  Place place;
  const Result<std::string> folder = store_dir(config);
  if (arguments.has("server")) {
    const Result<Endpoint> endpoint = parse_endpoint(arguments.text("server"));
    if (!endpoint) {
      return endpoint.status().within("--server");
    }
    place.daemon = *endpoint;
    place.store_dir = folder ? *folder : std::string();
    return place;
  }
  if (!folder) {
    return folder.status();
  }
  place.store_dir = *folder;
  place.daemon = running_server(*folder);
  return place;
}

void warn_of_engine_flags(const Arguments& arguments) {
  for (const char* flag : {"threads", "compute", "isa", "kv-pool", "kv"}) {
    if (arguments.has(flag)) {
      complain("--" + std::string(flag) + " changes nothing: a daemon answers");
    }
  }
}

Status choose_model_of_run(const memory::Store& store, const std::string& run_id, Config& config) {
  const auto nobody = [](std::string_view) { return false; };
  const Result<memory::RunRecord> record =
      run_id.empty() ? search::latest_interrupted(store, nobody) : store.get_run(run_id);
  THINKD_CHECK(record.status());
  if (!config.model.empty()) {
    return {};
  }
  const Result<search::StoredRun> run = search::read_request(*record);
  THINKD_CHECK(run.status());
  const Result<std::vector<ListedModel>> models = list_models(store.dir());
  THINKD_CHECK(models.status());
  for (const ListedModel& model : *models) {
    if (model.readable.ok() && model.summary.info.sha256 == run->model_sha256) {
      config.model = model.path;
      return {};
    }
  }
  return not_found("run " + record->run_id + " needs the model with SHA-256 " + run->model_sha256 +
                   "; name it with --model");
}

}  // namespace thinkd::daemon
