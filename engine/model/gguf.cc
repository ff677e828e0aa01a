#include "engine/model/gguf.h"

#include <limits>
#include <utility>

#include "engine/model/gguf_parser.h"
#include "engine/model/gguf_types.h"

namespace thinkd::engine {

using namespace gguf;

uint64_t GgufTensor::elements() const {
  uint64_t product = 1;
  for (const uint64_t extent : extents) {
    product *= extent;
  }
  return product;
}

Result<GgufFile> GgufFile::open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped.ok()) {
    return mapped.status();
  }
  GgufFile file(*std::move(mapped));
  if (Status status = GgufParser::parse(file); !status.ok()) {
    return status.within(path);
  }
  return file;
}

bool GgufFile::has(std::string_view key) const { return values_.find(key) != values_.end(); }

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

Result<const GgufFile::Value*> GgufFile::value(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    return corrupt("key " + shown(key) + ": missing");
  }
  return &found->second;
}

namespace {

Status mistyped(std::string_view key, uint32_t type, std::string_view wanted) {
  return corrupt("key " + shown(key) + ": is " + std::string(type_name(type)) + ", not " +
                 std::string(wanted));
}

}  // namespace

Result<uint64_t> GgufFile::get_uint(std::string_view key) const {
  Result<const Value*> found = value(key);
  if (!found.ok()) {
    return found.status();
  }
  const Value& value = **found;
  if (const auto* whole = std::get_if<uint64_t>(&value.held)) {
    return *whole;
  }
  if (const auto* sign = std::get_if<int64_t>(&value.held)) {
    if (*sign < 0) {
      return corrupt("key " + shown(key) + ": " + std::to_string(*sign) + " is negative");
    }
    return static_cast<uint64_t>(*sign);
  }
  return mistyped(key, value.type, "an integer");
}

Result<double> GgufFile::get_float(std::string_view key) const {
  Result<const Value*> found = value(key);
  if (!found.ok()) {
    return found.status();
  }
  if (const auto* real = std::get_if<double>(&(*found)->held)) {
    return *real;
  }
  return mistyped(key, (*found)->type, "a float");
}

Result<bool> GgufFile::get_bool(std::string_view key) const {
  Result<const Value*> found = value(key);
  if (!found.ok()) {
    return found.status();
  }
  if (const auto* flag = std::get_if<bool>(&(*found)->held)) {
    return *flag;
  }
  return mistyped(key, (*found)->type, "a bool");
}

Result<std::string> GgufFile::get_text(std::string_view key) const {
  Result<const Value*> found = value(key);
  if (!found.ok()) {
    return found.status();
  }
  if (const auto* text = std::get_if<std::string>(&(*found)->held)) {
    return *text;
  }
  return mistyped(key, (*found)->type, "a string");
}

Result<const GgufFile::Array*> GgufFile::array(std::string_view key,
                                               std::string_view wanted) const {
  Result<const Value*> found = value(key);
  if (!found.ok()) {
    return found.status();
  }
  if (const auto* items = std::get_if<Array>(&(*found)->held)) {
    return items;
  }
  return mistyped(key, (*found)->type, wanted);
}

Result<std::vector<std::string>> GgufFile::get_texts(std::string_view key) const {
  Result<const Array*> items = array(key, "an array of strings");
  if (!items.ok()) {
    return items.status();
  }
  if ((*items)->type != kString) {
    return mistyped(key, (*items)->type, "strings, item by item");
  }
  return (*items)->texts;
}

Result<std::vector<int64_t>> GgufFile::get_ints(std::string_view key) const {
  Result<const Array*> items = array(key, "an array of integers");
  if (!items.ok()) {
    return items.status();
  }
  if (!is_integer((*items)->type)) {
    return mistyped(key, (*items)->type, "integers, item by item");
  }
  return (*items)->ints;
}

}  // namespace thinkd::engine
