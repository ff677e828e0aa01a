#include "engine/model/model_keys.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/text.h"

namespace thinkd::engine {
namespace {

// An array whose items are all equal, as the one number it stands for.
Result<uint64_t> uniform(const std::string& key, const std::vector<int64_t>& items) {
  if (items.empty()) {
    return corrupt("key '" + key + "': an empty array");
  }
  const auto other =
      std::find_if(items.begin(), items.end(), [&](int64_t item) { return item != items[0]; });
  if (other != items.end()) {
    return unavailable("key '" + key + "': differs between layers (" + std::to_string(items[0]) +
                       " and " + std::to_string(*other) + ")");
  }
  if (items[0] < 0) {
    return corrupt("key '" + key + "': " + std::to_string(items[0]) + " is negative");
  }
  return static_cast<uint64_t>(items[0]);
}

std::string shape_text(std::span<const uint64_t> extents) {
  std::string text;
  for (const uint64_t extent : extents) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  }
  return text;
}

}  // namespace

Result<uint32_t> ModelKeys::count(std::string_view name, uint32_t limit) const {
  const std::string full = key(name);
  Result<uint64_t> value = file_.get_uint(full);
  if (const Result<std::vector<int64_t>> items = file_.get_ints(full); items.ok()) {
    value = uniform(full, *items);
  }
  if (!value.ok()) {
    return value.status();
  }
  if (*value == 0) {
    return corrupt("key '" + full + "': 0");
  }
  if (*value > limit) {
    return over_limit("key '" + full + "': " + std::to_string(*value) + ", the limit is " +
                      std::to_string(limit));
  }
  return static_cast<uint32_t>(*value);
}

Result<uint32_t> ModelKeys::count_or(std::string_view name, uint32_t limit,
                                     uint32_t otherwise) const {
  return has(name) ? count(name, limit) : Result<uint32_t>(otherwise);
}

Result<double> ModelKeys::positive(std::string_view name) const {
  const std::string full = key(name);
  Result<double> value = file_.get_float(full);
  if (value.ok() && !(std::isfinite(*value) && *value > 0)) {
    return corrupt("key '" + full + "': " + std::to_string(*value) +
                   " is not a finite number above 0");
  }
  return value;
}

Result<double> ModelKeys::positive_or(std::string_view name, double otherwise) const {
  return has(name) ? positive(name) : Result<double>(otherwise);
}

Result<std::string> ModelKeys::text_or(std::string_view name, std::string_view otherwise) const {
  return has(name) ? file_.get_text(key(name)) : Result<std::string>(std::string(otherwise));
}

Result<const GgufTensor*> shaped_tensor(const GgufFile& file, const std::string& name,
                                        std::initializer_list<uint64_t> extents) {
  const GgufTensor* tensor = file.find(name);
  if (tensor == nullptr) {
    return corrupt("tensor '" + name + "': missing");
  }
  // Trailing extents of 1 say nothing.
  std::span<const uint64_t> found = tensor->extents;
  while (found.size() > extents.size() && found.back() == 1) {
    found = found.first(found.size() - 1);
  }
  if (!std::equal(found.begin(), found.end(), extents.begin(), extents.end())) {
    return corrupt("tensor '" + name + "': its shape is " + shape_text(tensor->extents) +
                   " where the model's keys ask for " +
                   shape_text(std::span(extents.begin(), extents.size())));
  }
  return tensor;
}

Result<const GgufTensor*> float_vector(const GgufFile& file, const std::string& name,
                                       uint64_t length) {
  Result<const GgufTensor*> tensor = shaped_tensor(file, name, {length});
  if (tensor.ok() && (*tensor)->type != TensorType::f32) {
    return unavailable("tensor '" + name + "': is " + std::string(info((*tensor)->type).name) +
                       ", not F32");
  }
  return tensor;
}

}  // namespace thinkd::engine
