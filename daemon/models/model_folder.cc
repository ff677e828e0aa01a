#include "daemon/models/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "base/limits.h"
#include "daemon/models/catalogue.h"
#include "memory/paths.h"

namespace thinkd::daemon {
namespace {

constexpr std::string_view kSuffix = ".gguf";
constexpr std::string_view kScorerEnd = ".scorer";  // NAME.scorer.gguf belongs to NAME.gguf

std::string file_in(const std::string& folder, const std::string& name) {
  return folder + "/" + name + std::string(kSuffix);
}

// Name to path of the models in `folder`, which may be empty or missing.
Result<std::map<std::string, std::string>> models_in(const std::string& folder) {
  std::map<std::string, std::string> models;
  if (folder.empty()) {
    return models;
  }
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) {
    if (error == std::errc::no_such_file_or_directory) {
      return models;
    }
    return io_error("cannot read '" + folder + "': " + error.message());
  }
  while (files != std::filesystem::directory_iterator()) {
    const std::filesystem::path& path = files->path();
    std::error_code ignored;
    const std::string name = path.stem().string();
    if (path.extension() == kSuffix && is_model_name(name) && !name.ends_with(kScorerEnd) &&
        files->is_regular_file(ignored)) {
      models.emplace(name, file_in(folder, name));
    }
    files.increment(error);
    if (error) {
      return io_error("cannot read '" + folder + "': " + error.message());
    }
  }
  return models;
}

// Of both folders; the store's own first.
Result<std::map<std::string, std::string>> all_models(const std::string& store_dir,
                                                      const std::string& shipped) {
  Result<std::map<std::string, std::string>> models =
      models_in(store_dir.empty() ? std::string() : models_folder(store_dir));
  THINKD_CHECK(models.status());
  Result<std::map<std::string, std::string>> others = models_in(shipped);
  THINKD_CHECK(others.status());
  models->merge(*others);
  return models;
}

std::string names_of(const std::map<std::string, std::string>& models) {
  std::string text;
  for (const auto& [name, path] : models) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "no model" : text;
}

}  // namespace

bool is_model_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= limits::kModelNameBytes && name[0] != '.' &&
         name[0] != '-' && std::all_of(name.begin(), name.end(), plain);
}

std::string models_folder(const std::string& store_dir) { return store_dir + "/models"; }

Result<std::vector<ListedModel>> list_models(const std::string& store_dir,
                                             const std::string& shipped) {
  const Result<std::map<std::string, std::string>> found = all_models(store_dir, shipped);
  THINKD_CHECK(found.status());
  std::vector<ListedModel> models;
  for (const auto& [name, path] : *found) {
    ListedModel model;
    model.name = name;
    model.path = path;
    Result<engine::ModelSummary> summary = engine::inspect_model(path);
    model.readable = summary.status();
    if (summary.ok()) {
      model.summary = *std::move(summary);
    }
    models.push_back(std::move(model));
  }
  return models;
}

Result<std::string> resolve_model(const std::string& name_or_path, const std::string& store_dir,
                                  const std::string& shipped) {
  std::error_code error;
  if (name_or_path.ends_with(kSuffix) || name_or_path.find('/') != std::string::npos) {
    if (!std::filesystem::exists(name_or_path, error)) {
      return not_found("model '" + name_or_path + "': there is no such file");
    }
    return name_or_path;
  }
  const Result<std::map<std::string, std::string>> models = all_models(store_dir, shipped);
  THINKD_CHECK(models.status());
  const std::string name = name_or_path.empty() ? std::string(kShippedModel) : name_or_path;
  if (const auto found = models->find(name); found != models->end()) {
    return found->second;
  }
  const std::string there = "; here are " + names_of(*models);
  if (name_or_path.empty()) {
    return not_found("no model is named, and '" + name +
                     "' is not beside the program; `thinkd models pull smollm2-135m` gets one, "
                     "then say --model smollm2-135m" +
                     there);
  }
  if (!is_model_name(name)) {
    return invalid(
        "model '" + name +
        "': a name has letters, digits, '.', '_' and '-'; a path contains '/' or ends in .gguf");
  }
  const Result<std::string> usual = memory::default_store_dir();
  const std::string into = usual.ok() && *usual == store_dir ? "" : " --store " + store_dir;
  const bool known = find_in_catalogue(name) != nullptr;
  return not_found(
      "model '" + name + "' is not here" + there + "; " +
      (known ? "`thinkd models pull " + name + into + "` gets it"
             : "`thinkd models pull` knows " + catalogue_names() + " and hf:owner/repo/file.gguf"));
}

}  // namespace thinkd::daemon
