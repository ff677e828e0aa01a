#include "engine/model/language_model.h"

#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/sha256.h"
#include "engine/model/file_hashes.h"
#include "engine/model/model_summary.h"
#include "tests/support/catch.h"
#include "tests/support/tiny_llama.h"

namespace thinkd::engine {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "thinkd-model-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Moves a file's time back, so that its hash counts as settled.
void age(const std::string& path) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST_CASE("a tiny llama loads, says what it is, and runs a step") {
  const Folder folder;
  const std::string path = folder.file("tiny.gguf");
  REQUIRE(testing::write_tiny_llama(path, {.type = TensorType::q4_1, .embedding = TensorType::q8_0})
              .ok());
  Result<std::unique_ptr<LanguageModel>> loaded =
      load_language_model(path, {.threads = 1, .kv = std::nullopt, .isa = {}});
  CAPTURE(loaded.status().message());
  REQUIRE(loaded.ok());
  const LanguageModel& model = **loaded;
  CHECK(model.info.name == "tiny");
  CHECK(model.info.architecture == "llama");
  CHECK(model.info.title == "Tiny Llama");
  CHECK(model.info.quantization == "Q4_1");
  CHECK(model.info.file_bytes == std::filesystem::file_size(path));
  CHECK(model.info.sha256 == hex(*sha256_file(path)));
  CHECK(model.tokenizer->vocabulary().size() == testing::kTinyVocabulary);
  CHECK(model.tokenizer->vocabulary().is_end(testing::kTinyMessageEnd));
  REQUIRE(model.chat_template.has_value());
  CHECK(model.runner->shape().vocabulary == testing::kTinyVocabulary);
  CHECK(model.runner->shape().width == 64);
}

TEST_CASE("a file may leave out its template, never its tokenizer") {
  const Folder folder;
  const std::string path = folder.file("m.gguf");
  REQUIRE(testing::write_tiny_llama(path, {.chat_template = false}).ok());
  const ModelOptions options{.threads = 1, .kv = std::nullopt, .isa = {}};
  const auto bare = load_language_model(path, options);
  REQUIRE(bare.ok());
  CHECK_FALSE((*bare)->chat_template.has_value());

  REQUIRE(testing::write_tiny_llama(path, {.pre = "no-such-pre"}).ok());
  const auto unknown = load_language_model(path, options);
  REQUIRE_FALSE(unknown.ok());
  CHECK_THAT(unknown.status().message(), Contains("no-such-pre"));
}

TEST_CASE("inspect tells a model's sizes, also of one that cannot run") {
  const Folder folder;
  const std::string path = folder.file("t.gguf");
  REQUIRE(testing::write_tiny_llama(path, {.type = TensorType::q8_0, .tied = false}).ok());
  const Result<ModelSummary> summary = inspect_model(path);
  REQUIRE(summary.ok());
  CHECK(summary->runs.ok());
  // embedding and output, then for both layers q, o, k, v, three of the ffn; five norms of 64
  const uint64_t matrices = 2 * 303 * 64 + 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128);
  CHECK(summary->parameters == matrices + 5 * 64);
  CHECK(summary->weight_bytes == matrices / 32 * 34 + 5 * 64 * 4);
  REQUIRE(summary->types.size() == 2);
  CHECK(summary->types[0].type == "Q8_0");
  CHECK(summary->types[0].tensors == 16);
  CHECK(summary->types[1].type == "F32");
  CHECK(summary->layers == 2);
  CHECK(summary->head_size == 16);
  CHECK(summary->context == 512);
  CHECK(summary->kv_bytes_per_1024_tokens == 2 * 2 * 16 * 2 * 2 * 1024);
  CHECK(summary->tokenizer_model == "gpt2");
  CHECK(summary->tokenizer_pre == "smollm");
  CHECK(summary->vocabulary == testing::kTinyVocabulary);
  CHECK(summary->chat_template);

  const std::string odd = "{{ messages | no_such_filter }}";
  REQUIRE(testing::write_tiny_llama(path, {.chat_source = odd}).ok());
  const Result<ModelSummary> mute = inspect_model(path);
  REQUIRE(mute.ok());
  CHECK_THAT(mute->runs.message(), Contains("tokenizer.chat_template"));
  CHECK_THAT(mute->runs.message(), Contains("no_such_filter"));
  const auto loaded = load_language_model(path, {});
  REQUIRE_FALSE(loaded.ok());
  CHECK_THAT(loaded.status().message(), Contains(mute->runs.message()));

  testing::GgufWriter other;
  other.key_text("general.architecture", "mamba").key_u32("mamba.block_count", 24);
  REQUIRE(write_file(path, other.bytes()).ok());
  const Result<ModelSummary> foreign = inspect_model(path);
  REQUIRE(foreign.ok());
  CHECK(foreign->info.architecture == "mamba");
  CHECK(foreign->layers == 24);
  CHECK_THAT(foreign->runs.message(), Contains("mamba"));
}

TEST_CASE("hashes are remembered until the file changes") {
  const Folder folder;
  const std::string memory = folder.file("cache/sha256.json");
  const std::string path = folder.file("a.bin");
  const FileHashes hashes(memory);
  REQUIRE(write_file(path, "one").ok());
  age(path);
  const std::string one = hex(sha256("one"));
  CHECK(*hashes.sha256(path) == one);
  REQUIRE(std::filesystem::exists(memory));

  // Damage the remembered hash: it is believed, which proves that the file is not read again.
  std::string text = *read_file(memory, 1 << 20);
  REQUIRE(text.find(one) != std::string::npos);
  text.replace(text.find(one), 64, std::string(64, 'a'));
  REQUIRE(write_file(memory, text).ok());
  CHECK(*hashes.sha256(path) == std::string(64, 'a'));

  REQUIRE(write_file(path, "another").ok());
  CHECK(*hashes.sha256(path) == hex(sha256("another")));
  for (const std::string junk : {"", "{", "[]", R"({"x":1})", "\xff"}) {
    REQUIRE(write_file(memory, junk).ok());
    CHECK(*hashes.sha256(path) == hex(sha256("another")));
  }
  CHECK(hashes.sha256(folder.file("none")).status().code() == Code::not_found);
  CHECK(*FileHashes("").sha256(path) == hex(sha256("another")));
  CHECK(*FileHashes("/proc/no/such/folder/x.json").sha256(path) == hex(sha256("another")));
}

}  // namespace
}  // namespace thinkd::engine
