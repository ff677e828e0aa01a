#include "eval/manifest.h"

#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <cerrno>

#include "base/file.h"
#include "base/limits.h"
#include "base/sha256.h"

namespace thinkd::eval {
namespace {

std::string path_in(const std::string& folder) { return folder + "/manifest.json"; }

// The sampling members as a request writes them: one parser and one writer for both.
OrderedJson sampling_json(const search::SamplingOverrides& sampling) {
  search::Request request;
  request.sampling = sampling;
  const Json whole = search::to_json(request);
  OrderedJson out = OrderedJson::object();
  for (const char* name :
       {"temperature", "top_p", "min_p", "top_k", "repetition_penalty", "max_tokens", "stop"}) {
    if (whole.contains(name)) {
      out[name] = whole[name];
    }
  }
  return out;
}

Result<search::SamplingOverrides> sampling_from(Json json) {
  json["question"] = "?";
  Result<search::Request> request = search::request_from_json(json);
  if (!request) {
    return request.status();
  }
  return request->sampling;
}

// Throws nlohmann's exceptions, which name the member.
Manifest fields_of(const Json& json) {
  Manifest out;
  const Json& data = json.at("data");
  data.at("name").get_to(out.data_name);
  data.at("sha256").get_to(out.data_sha256);
  data.at("first_row").get_to(out.first_row);
  data.at("last_row").get_to(out.last_row);
  data.at("problems").get_to(out.problems);
  json.at("task").get_to(out.task);
  json.at("prompt_version").get_to(out.prompt_version);
  json.at("strategies").get_to(out.strategies);
  json.at("samples").get_to(out.samples);
  json.at("verifier").get_to(out.verifier);
  json.at("system").get_to(out.system);
  json.at("seed").get_to(out.seed);
  const Json& model = json.at("model");
  model.at("name").get_to(out.model.name);
  model.at("sha256").get_to(out.model.sha256);
  model.at("quantization").get_to(out.model.quantization);
  json.at("build").get_to(out.model.build);
  json.at("isa").get_to(out.model.isa);
  json.at("compute").get_to(out.model.compute);
  json.at("kv").get_to(out.model.kv);
  out.model.scorer = json.value("scorer", std::string());
  out.model.page_quota = json.value("page_quota", uint32_t{0});
  return out;
}

}  // namespace

OrderedJson to_json(const Manifest& manifest) {
  OrderedJson out;
  out["format"] = 1;
  out["data"]["name"] = manifest.data_name;
  out["data"]["sha256"] = manifest.data_sha256;
  out["data"]["first_row"] = manifest.first_row;
  out["data"]["last_row"] = manifest.last_row;
  out["data"]["problems"] = manifest.problems;
  out["task"] = manifest.task;
  out["prompt_version"] = manifest.prompt_version;
  out["strategies"] = manifest.strategies;
  out["samples"] = manifest.samples;
  out["budget"] = search::to_json(manifest.budget);
  out["verifier"] = manifest.verifier;
  out["system"] = manifest.system;
  out["sampling"] = sampling_json(manifest.sampling);
  out["seed"] = manifest.seed;
  out["model"]["name"] = manifest.model.name;
  out["model"]["sha256"] = manifest.model.sha256;
  out["model"]["quantization"] = manifest.model.quantization;
  out["build"] = manifest.model.build;
  out["isa"] = manifest.model.isa;
  out["compute"] = manifest.model.compute;
  out["kv"] = manifest.model.kv;
  if (!manifest.model.scorer.empty()) {
    out["scorer"] = manifest.model.scorer;
  }
  if (manifest.model.page_quota != 0) {
    out["page_quota"] = manifest.model.page_quota;
  }
  return out;
}

std::string hash_of(const Manifest& manifest) { return hex(sha256(to_text(to_json(manifest)))); }

Result<std::optional<Manifest>> read_manifest(const std::string& folder) {
  struct stat info{};
  if (::stat(path_in(folder).c_str(), &info) != 0 && errno == ENOENT) {
    return std::optional<Manifest>();
  }
  const Result<std::string> text = read_file(path_in(folder), limits::kEvalManifestBytes);
  if (!text) {
    return text.status();
  }
  const Result<Json> json = parse_json(*text);
  if (!json) {
    return corrupt(path_in(folder) + ": " + json.status().message());
  }
  Manifest out;
  std::string hash;
  try {
    if (json->at("format") != 1) {
      return unavailable(path_in(folder) + " has format " + to_text(json->at("format")) +
                         "; this build reads 1");
    }
    out = fields_of(*json);
    Result<search::Budget> budget = search::budget_from_json(json->at("budget"));
    Result<search::SamplingOverrides> sampling = sampling_from(json->at("sampling"));
    if (!budget || !sampling) {
      return corrupt(path_in(folder) + ": " +
                     (budget ? sampling.status() : budget.status()).message());
    }
    out.budget = *budget;
    out.sampling = *sampling;
    hash = json->at("hash").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    return corrupt(path_in(folder) + ": " + error.what());
  }
  if (hash != hash_of(out)) {
    return corrupt(path_in(folder) + " was changed: its hash is " + hash + ", its members give " +
                   hash_of(out));
  }
  return std::optional<Manifest>(std::move(out));
}

Status write_manifest(const std::string& folder, const Manifest& manifest) {
  OrderedJson json = to_json(manifest);
  json["hash"] = hash_of(manifest);
  return write_file(path_in(folder), json.dump(2) + '\n');
}

Status same_manifest(const Manifest& folder, const Manifest& now) {
  const auto flat = [](const Manifest& manifest) {
    OrderedJson out = OrderedJson::object();
    const OrderedJson nested = to_json(manifest);
    for (const auto& [key, value] : nested.items()) {
      if (key == "data" || key == "model") {
        for (const auto& [inner, part] : value.items()) {
          out[key + '.' + inner] = part;
        }
      } else {
        out[key] = value;
      }
    }
    return out;
  };
  const OrderedJson before = flat(folder);
  const OrderedJson after = flat(now);
  std::string differences;
  for (const auto& [key, value] : after.items()) {
    const OrderedJson old = before.value(key, OrderedJson());
    if (old != value) {
      differences += (differences.empty() ? "" : "; ") + key + " was " + to_text(old) + ", is " +
                     to_text(value);
    }
  }
  return differences.empty() ? Status()
                             : conflict("the folder holds another evaluation: " + differences);
}

}  // namespace thinkd::eval
