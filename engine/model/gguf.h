#pragma once
// A GGUF v2/v3 file, mapped and checked: every count, offset and length is held against the file
// and the limits before it is used, so that what this class hands out can be trusted to lie in the
// file. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
//   header   u32 "GGUF", u32 version (2, 3), u64 tensors, u64 keys
//   keys     string key, u32 type, value
//            (scalar; string = u64 length, bytes; array = u32 type, u64 count, items)
//   tensors  string name, u32 dims (1..4), u64 extent each, u32 type, u64 offset in the data
//   data     begins at the next multiple of general.alignment (32 where the file has none)
//
// Refused besides: a key or tensor that comes twice, arrays of arrays, an alignment that is no
// power of two up to limits::kGgufAlignment, an offset off the alignment, more tensor bytes than
// the data section holds. Errors: not_found, io, corrupt, limit, and unavailable for what is
// well-formed but not known here (version, tensor type); each names the key or tensor and both
// numbers.
//
// Immutable after open(); any thread may read.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/status.h"
#include "engine/model/tensor_type.h"

namespace thinkd::engine {

struct GgufTensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<uint64_t> extents;  // innermost first; product = elements
  std::span<const uint8_t> data;  // exactly the bytes its type and extents ask for

  uint64_t elements() const;
  uint64_t columns() const { return extents[0]; }  // elements a row
  uint64_t rows() const { return elements() / extents[0]; }
};

class GgufFile {
 public:
  static Result<GgufFile> open(const std::string& path);

  // A key's value in the wanted type; the error names the key and says missing or what it is
  // instead.
  Result<uint64_t> get_uint(std::string_view key) const;  // any integer type, not negative
  Result<double> get_float(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  Result<std::string> get_text(std::string_view key) const;
  Result<std::vector<std::string>> get_texts(std::string_view key) const;
  Result<std::vector<int64_t>> get_ints(std::string_view key) const;
  bool has(std::string_view key) const;

  const GgufTensor* find(std::string_view name) const;  // null where there is none
  std::span<const GgufTensor> tensors() const { return tensors_; }
  uint32_t version() const { return version_; }
  uint64_t file_bytes() const { return file_.bytes().size(); }

 private:
  friend class GgufParser;

  struct Array {
    uint32_t type = 0;  // of the items
    std::vector<std::string> texts;
    std::vector<int64_t> ints;
    std::vector<double> floats;
  };
  struct Value {
    uint32_t type = 0;  // GGUF's number; `held` has what that type needs
    std::variant<int64_t, uint64_t, double, bool, std::string, Array> held;
  };

  explicit GgufFile(MappedFile file) : file_(std::move(file)) {}
  Result<const Value*> value(std::string_view key) const;
  Result<const Array*> array(std::string_view key, std::string_view wanted) const;

  MappedFile file_;
  uint32_t version_ = 0;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, size_t, std::less<>> index_;  // a tensor's name -> its place in tensors_
};

}  // namespace thinkd::engine
