#include "daemon/rpc/listings.h"

#include <nlohmann/json.hpp>

#include "daemon/models/model_folder.h"

namespace thinkd::daemon {
namespace {

OrderedJson schema_json(const std::string& text) {
  OrderedJson schema = OrderedJson::parse(text, nullptr, false);
  return schema.is_discarded() ? OrderedJson() : schema;
}

OrderedJson model_json(const ListedModel& model) {
  const engine::ModelSummary& summary = model.summary;
  const Status trouble = model.readable.ok() ? summary.runs : model.readable;
  OrderedJson out;
  out["name"] = model.name;
  out["path"] = model.path;
  out["bytes"] = summary.info.file_bytes;
  out["sha256"] = summary.info.sha256;
  out["architecture"] = summary.info.architecture;
  out["quantization"] = summary.info.quantization;
  out["parameters"] = summary.parameters;
  out["context"] = summary.context;
  out["runs"] = trouble.ok();
  out["error"] = trouble.ok() ? OrderedJson() : OrderedJson(trouble.message());
  return out;
}

}  // namespace

OrderedJson strategies_json(const search::Registry& registry) {
  OrderedJson list = OrderedJson::array();
  for (const search::StrategyInfo& info : registry.list()) {
    list.push_back(search::to_json(info));
  }
  return list;
}

OrderedJson verifier_json(const verifiers::VerifierInfo& info) {
  OrderedJson roles = OrderedJson::array();
  for (const verifiers::Role role : info.roles) {
    roles.push_back(std::string(verifiers::role_name(role)));
  }
  OrderedJson out;
  out["name"] = info.name;
  out["aliases"] = info.aliases;
  out["roles"] = std::move(roles);
  out["description"] = info.description;
  out["source"] = info.source;
  out["params"] = schema_json(info.parameters);
  return out;
}

OrderedJson verifiers_json(const verifiers::Verifiers& verifiers) {
  OrderedJson list = OrderedJson::array();
  for (const verifiers::VerifierInfo& info : verifiers.list()) {
    list.push_back(verifier_json(info));
  }
  return list;
}

Result<OrderedJson> models_json(const std::string& store_dir) {
  OrderedJson list = OrderedJson::array();
  const Result<std::vector<ListedModel>> models = list_models(store_dir);
  if (!models) {
    return models.status();
  }
  for (const ListedModel& model : *models) {
    list.push_back(model_json(model));
  }
  return list;
}

}  // namespace thinkd::daemon
