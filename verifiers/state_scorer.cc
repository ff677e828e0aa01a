#include "verifiers/state_scorer.h"

#include <cmath>
#include <cstring>

#include "base/limits.h"
#include "base/sha256.h"
#include "engine/model/gguf.h"

namespace thinkd::verifiers {
namespace {

constexpr std::string_view kArchitecture = "thinkd-scorer";
constexpr std::string_view kModelKey = "thinkd.scorer.model_sha256";

std::string shown(const std::vector<uint64_t>& extents) {
  std::string out;
  for (const uint64_t extent : extents) {
    out += (out.empty() ? "" : " x ") + std::to_string(extent);
  }
  return out;
}

// Innermost extent first, as GGUF has it.
Status read_tensor(const engine::GgufFile& file, std::string_view name,
                   const std::vector<uint64_t>& extents, std::vector<float>& into) {
  const engine::GgufTensor* tensor = file.find(name);
  if (tensor == nullptr) {
    return corrupt("tensor '" + std::string(name) + "' is missing");
  }
  if (tensor->type != engine::TensorType::f32 || tensor->extents != extents) {
    return corrupt("tensor '" + std::string(name) + "' must be F32 of " + shown(extents) +
                   "; it has " + shown(tensor->extents));
  }
  into.resize(tensor->elements());
  std::memcpy(into.data(), tensor->data.data(), into.size() * sizeof(float));
  for (const float value : into) {
    if (!std::isfinite(value)) {
      return corrupt("tensor '" + std::string(name) + "' holds a number that is not finite");
    }
  }
  return {};
}

double silu(double x) { return x / (1 + std::exp(-x)); }

}  // namespace

std::string StateScorer::path_beside(std::string_view model_path) {
  constexpr std::string_view kEnd = ".gguf";
  if (model_path.ends_with(kEnd)) {
    model_path.remove_suffix(kEnd.size());
  }
  return std::string(model_path) + ".scorer.gguf";
}

Result<std::shared_ptr<const StateScorer>> StateScorer::open(const std::string& path,
                                                             std::string_view model_sha256,
                                                             uint32_t width) {
  const Result<engine::GgufFile> file = engine::GgufFile::open(path);
  if (!file) {
    return file.status();
  }
  const auto within = [&](const Status& status) { return status.within("scorer '" + path + "'"); };
  const Result<std::string> architecture = file->get_text("general.architecture");
  if (!architecture || *architecture != kArchitecture) {
    return within(corrupt("general.architecture is not \"" + std::string(kArchitecture) + "\""));
  }
  const Result<std::string> made_for = file->get_text(kModelKey);
  if (!made_for) {
    return within(made_for.status());
  }
  if (*made_for != model_sha256) {
    return within(conflict("made for the model with SHA-256 " + *made_for + "; this one has " +
                           std::string(model_sha256)));
  }
  const engine::GgufTensor* bias = file->find("b1");
  const uint64_t hidden = bias == nullptr ? 0 : bias->elements();
  if (hidden == 0 || hidden > limits::kScorerWidth) {
    return within(over_limit("its layer has " + std::to_string(hidden) + " numbers; 1 to " +
                             std::to_string(limits::kScorerWidth) + " are allowed"));
  }
  auto scorer = std::make_shared<StateScorer>();
  scorer->width_ = width;
  std::vector<float> b2;
  for (const Status& status :
       {read_tensor(*file, "w1", {width, hidden}, scorer->w1_),
        read_tensor(*file, "b1", {hidden}, scorer->b1_),
        read_tensor(*file, "w2", {hidden, 1}, scorer->w2_), read_tensor(*file, "b2", {1}, b2)}) {
    if (!status.ok()) {
      return within(status);
    }
  }
  scorer->b2_ = b2.front();
  const Result<Sha256Digest> digest = sha256_file(path);
  if (!digest) {
    return digest.status();
  }
  scorer->sha256_ = hex(*digest);
  return std::shared_ptr<const StateScorer>(std::move(scorer));
}

double StateScorer::score(std::span<const float> state) const {
  if (state.size() != width_) {
    return 0;
  }
  double sum = b2_;
  for (size_t row = 0; row < b1_.size(); ++row) {
    const float* weights = w1_.data() + row * width_;
    double dot = b1_[row];
    for (size_t i = 0; i < width_; ++i) {
      dot += static_cast<double>(weights[i]) * state[i];
    }
    sum += w2_[row] * silu(dot);
  }
  const double score = 1 / (1 + std::exp(-sum));
  return std::isfinite(score) ? score : 0;
}

}  // namespace thinkd::verifiers
