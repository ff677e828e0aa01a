#include "engine/model/language_model.h"

#include <filesystem>
#include <utility>

#include "engine/model/file_hashes.h"
#include "engine/model/gguf.h"
#include "engine/model/model_summary.h"
#include "engine/model/model_words.h"
#include "engine/model/transformer.h"
#include "engine/runner/transformer_runner.h"

namespace thinkd::engine {
namespace {

Status read_info(const GgufFile& file, const std::string& path, ModelInfo& info) {
  info.name = std::filesystem::path(path).stem().string();
  info.path = path;
  info.file_bytes = file.file_bytes();
  info.quantization = main_type(file);
  const Result<std::string> architecture = file.get_text("general.architecture");
  THINKD_CHECK(architecture.status());
  info.architecture = *architecture;
  if (file.has("general.name")) {
    const Result<std::string> title = file.get_text("general.name");
    THINKD_CHECK(title.status());
    info.title = *title;
  }
  const Result<std::string> hash = FileHashes(FileHashes::user_memory()).sha256(path);
  THINKD_CHECK(hash.status());
  info.sha256 = *hash;
  return {};
}

Result<std::unique_ptr<LanguageModel>> load(std::shared_ptr<const GgufFile> file,
                                            const std::string& path, const ModelOptions& options) {
  Result<Transformer> transformer = read_transformer(*file);
  THINKD_CHECK(transformer.status());
  auto model = std::make_unique<LanguageModel>();
  Result<ModelWords> words = read_words(*file, transformer->config.vocabulary);
  THINKD_CHECK(words.status());
  model->tokenizer = std::move(words->tokenizer);
  model->chat_template = std::move(words->chat_template);
  THINKD_CHECK(read_info(*file, path, model->info));
  Result<std::unique_ptr<ModelRunner>> runner = make_transformer_runner(
      std::move(file), std::move(transformer->config), std::move(transformer->weights), options);
  THINKD_CHECK(runner.status());
  model->runner = *std::move(runner);
  return model;
}

}  // namespace

Result<std::unique_ptr<LanguageModel>> load_language_model(const std::string& path,
                                                           const ModelOptions& options) {
  Result<GgufFile> file = GgufFile::open(path);
  if (!file.ok()) {
    return file.status();
  }
  Result<std::unique_ptr<LanguageModel>> model =
      load(std::make_shared<const GgufFile>(*std::move(file)), path, options);
  return model.ok() ? std::move(model) : model.status().within(path);
}

}  // namespace thinkd::engine
