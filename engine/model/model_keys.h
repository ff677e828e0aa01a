#pragma once
// A model's hyperparameters, read from the keys "<architecture>.<name>" of its file with the limits
// that hold for all families. Every error names the key. Stateless; the file must outlive the
// reader.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/model/gguf.h"

namespace thinkd::engine {

class ModelKeys {
 public:
  ModelKeys(const GgufFile& file, std::string architecture)
      : file_(file), architecture_(std::move(architecture)) {}

  bool has(std::string_view name) const { return file_.has(key(name)); }

  // 1 .. limit. An array, which some files keep one item a layer in, counts where all its items are
  // equal.
  Result<uint32_t> count(std::string_view name, uint32_t limit) const;
  Result<uint32_t> count_or(std::string_view name, uint32_t limit, uint32_t otherwise) const;
  // Finite and above 0.
  Result<double> positive(std::string_view name) const;
  Result<double> positive_or(std::string_view name, double otherwise) const;
  Result<std::string> text_or(std::string_view name, std::string_view otherwise) const;

  std::string key(std::string_view name) const { return architecture_ + "." + std::string(name); }

 private:
  const GgufFile& file_;
  std::string architecture_;
};

// A tensor of this name, these extents (innermost first). Errors name the tensor and both shapes.
Result<const GgufTensor*> shaped_tensor(const GgufFile& file, const std::string& name,
                                        std::initializer_list<uint64_t> extents);

// As above, and F32: norms and factors, which are small and kept whole.
Result<const GgufTensor*> float_vector(const GgufFile& file, const std::string& name,
                                       uint64_t length);

}  // namespace thinkd::engine
