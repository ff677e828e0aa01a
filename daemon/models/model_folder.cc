#include "daemon/models/model_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/limits.h"
#include "daemon/models/catalogue.h"
#include "memory/paths.h"

namespace thinkd::daemon {
namespace {

constexpr std::string_view kSuffix = ".gguf";
constexpr std::string_view kScorerEnd = ".scorer";  // NAME.scorer.gguf belongs to NAME.gguf

Result<std::vector<std::string>> model_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator files(folder, error);
  if (error) {
    if (error == std::errc::no_such_file_or_directory) {
      return names;
    }
    return io_error("cannot read '" + folder + "': " + error.message());
  }
  while (files != std::filesystem::directory_iterator()) {
    const std::filesystem::path& path = files->path();
    std::error_code ignored;
    const std::string name = path.stem().string();
    if (path.extension() == kSuffix && is_model_name(name) && !name.ends_with(kScorerEnd) &&
        files->is_regular_file(ignored)) {
      names.push_back(name);
    }
    files.increment(error);
    if (error) {
      return io_error("cannot read '" + folder + "': " + error.message());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "no model" : text;
}

std::string file_of(const std::string& store_dir, const std::string& name) {
  return models_folder(store_dir) + "/" + name + std::string(kSuffix);
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

Result<std::vector<ListedModel>> list_models(const std::string& store_dir) {
  const Result<std::vector<std::string>> names = model_names(models_folder(store_dir));
  if (!names.ok()) {
    return names.status();
  }
  std::vector<ListedModel> models;
  for (const std::string& name : *names) {
    ListedModel model;
    model.name = name;
    model.path = file_of(store_dir, name);
    Result<engine::ModelSummary> summary = engine::inspect_model(model.path);
    model.readable = summary.status();
    if (summary.ok()) {
      model.summary = *std::move(summary);
    }
    models.push_back(std::move(model));
  }
  return models;
}

Result<std::string> resolve_model(const std::string& name_or_path, const std::string& store_dir) {
  std::error_code error;
  if (name_or_path.ends_with(kSuffix) || name_or_path.find('/') != std::string::npos) {
    if (!std::filesystem::exists(name_or_path, error)) {
      return not_found("model '" + name_or_path + "': there is no such file");
    }
    return name_or_path;
  }
  const Result<std::vector<std::string>> names = model_names(models_folder(store_dir));
  if (!names.ok()) {
    return names.status();
  }
  const std::string there = "; " + models_folder(store_dir) + " holds " + joined(*names);
  if (name_or_path.empty()) {
    return not_found(
        "no model is named; `thinkd models pull smollm2-135m` gets one, then say --model "
        "smollm2-135m" +
        there);
  }
  if (!is_model_name(name_or_path)) {
    return invalid(
        "model '" + name_or_path +
        "': a name has letters, digits, '.', '_' and '-'; a path contains '/' or ends in .gguf");
  }
  if (std::binary_search(names->begin(), names->end(), name_or_path)) {
    return file_of(store_dir, name_or_path);
  }
  const Result<std::string> usual = memory::default_store_dir();
  const std::string into = usual.ok() && *usual == store_dir ? "" : " --store " + store_dir;
  const bool known = find_in_catalogue(name_or_path) != nullptr;
  return not_found(
      "model '" + name_or_path + "' is not here" + there + "; " +
      (known ? "`thinkd models pull " + name_or_path + into + "` gets it"
             : "`thinkd models pull` knows " + catalogue_names() + " and hf:owner/repo/file.gguf"));
}

}  // namespace thinkd::daemon
