#include "engine/model/gguf_parser.h"

#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/limits.h"
#include "engine/model/gguf.h"
#include "engine/model/gguf_types.h"

namespace thinkd::engine {
namespace {

using namespace gguf;

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"

// The fewest bytes an item takes in the file: what makes a lying count harmless.
uint64_t least_bytes(uint32_t type) {
  switch (type) {
    case kU8:
    case kI8:
    case kBool:
      return 1;
    case kU16:
    case kI16:
      return 2;
    case kU32:
    case kI32:
    case kF32:
      return 4;
    default:
      return 8;
  }
}

std::string number(uint64_t value) { return std::to_string(value); }

}  // namespace

// Reads one file straight down, with the place it is at for the errors.
class GgufParser::Reading {
 public:
  explicit Reading(GgufFile& file) : file_(file), reader_(file.file_.bytes()) {}

  Status parse() {
    THINKD_CHECK(header());
    for (uint64_t i = 0; i < key_count_; ++i) {
      THINKD_CHECK(key(i));
    }
    THINKD_CHECK(alignment());
    for (uint64_t i = 0; i < tensor_count_; ++i) {
      THINKD_CHECK(tensor(i));
    }
    return place_tensors();
  }

 private:
  using Value = GgufFile::Value;
  using Array = GgufFile::Array;

  Status ends(const std::string& where) const {
    return corrupt(where + ": the file (" + number(file_.file_bytes()) + " bytes) ends inside it");
  }

  Status header() {
    const auto magic = reader_.read<uint32_t>();
    if (reader_.failed()) {
      return ends("magic");
    }
    if (magic != kMagic) {
      return corrupt("magic: the file does not begin with \"GGUF\"");
    }
    file_.version_ = reader_.read<uint32_t>();
    if (reader_.failed()) {
      return ends("version");
    }
    if (file_.version_ != 0 && (file_.version_ & 0xffff) == 0) {
      return unavailable("version: a big-endian file; thinkd reads little-endian GGUF 2 and 3");
    }
    if (file_.version_ != 2 && file_.version_ != 3) {
      return unavailable("version: " + number(file_.version_) + "; thinkd reads GGUF 2 and 3");
    }
    tensor_count_ = reader_.read<uint64_t>();
    key_count_ = reader_.read<uint64_t>();
    if (reader_.failed()) {
      return ends("header");
    }
    if (tensor_count_ > limits::kGgufTensors) {
      return over_limit("tensor count: " + number(tensor_count_) + ", the limit is " +
                        number(limits::kGgufTensors));
    }
    if (key_count_ > limits::kGgufKeys) {
      return over_limit("key count: " + number(key_count_) + ", the limit is " +
                        number(limits::kGgufKeys));
    }
    return {};
  }

  // The caller says of a failure where it was: the name is built only then.
  Result<std::string> string() {
    const auto size = reader_.read<uint64_t>();
    if (reader_.failed()) {
      return corrupt("the file (" + number(file_.file_bytes()) + " bytes) ends inside it");
    }
    if (size > limits::kGgufStringBytes) {
      return over_limit("a string of " + number(size) + " bytes, the limit is " +
                        number(limits::kGgufStringBytes));
    }
    if (size > reader_.left()) {
      return corrupt("a string of " + number(size) + " bytes where the file has " +
                     number(reader_.left()) + " left");
    }
    return std::string(reader_.text(size));
  }

  Status key(uint64_t i) {
    const std::string nth = "key " + number(i) + " of " + number(key_count_);
    Result<std::string> name = string();
    if (!name.ok()) {
      return name.status().within(nth + ", its name");
    }
    const std::string where = "key " + shown(*name);
    if (name->empty()) {
      return corrupt(nth + ": its name is empty");
    }
    Value value;
    value.type = reader_.read<uint32_t>();
    if (reader_.failed()) {
      return ends(where);
    }
    if (value.type == kString) {
      Result<std::string> text = string();
      if (!text.ok()) {
        return text.status().within(where);
      }
      value.held = *std::move(text);
    } else if (value.type == kArray) {
      Result<Array> items = array(where);
      if (!items.ok()) {
        return items.status();
      }
      value.held = *std::move(items);
    } else {
      THINKD_CHECK(scalar(where, value));
    }
    if (!file_.values_.emplace(*std::move(name), std::move(value)).second) {
      return corrupt(where + ": comes twice");
    }
    return {};
  }

  Status scalar(const std::string& where, Value& value) {
    switch (value.type) {
      case kU8:
        value.held = uint64_t{reader_.read<uint8_t>()};
        break;
      case kU16:
        value.held = uint64_t{reader_.read<uint16_t>()};
        break;
      case kU32:
        value.held = uint64_t{reader_.read<uint32_t>()};
        break;
      case kU64:
        value.held = reader_.read<uint64_t>();
        break;
      case kI8:
        value.held = int64_t{reader_.read<int8_t>()};
        break;
      case kI16:
        value.held = int64_t{reader_.read<int16_t>()};
        break;
      case kI32:
        value.held = int64_t{reader_.read<int32_t>()};
        break;
      case kI64:
        value.held = reader_.read<int64_t>();
        break;
      case kF32:
        value.held = double{reader_.read<float>()};
        break;
      case kF64:
        value.held = reader_.read<double>();
        break;
      case kBool: {
        const auto byte = reader_.read<uint8_t>();
        if (byte > 1) {
          return corrupt(where + ": a bool of " + number(byte));
        }
        value.held = byte == 1;
        break;
      }
      default:
        return corrupt(where + ": value type " + number(value.type) + " does not exist");
    }
    return reader_.failed() ? ends(where) : Status();
  }

  Result<Array> array(const std::string& where) {
    Array array;
    array.type = reader_.read<uint32_t>();
    const auto count = reader_.read<uint64_t>();
    if (reader_.failed()) {
      return ends(where);
    }
    if (array.type == kArray) {
      return unavailable(where + ": an array of arrays");
    }
    if (array.type >= kTypeCount) {
      return corrupt(where + ": item type " + number(array.type) + " does not exist");
    }
    if (count > limits::kGgufArrayItems) {
      return over_limit(where + ": an array of " + number(count) + " items, the limit is " +
                        number(limits::kGgufArrayItems));
    }
    if (count > reader_.left() / least_bytes(array.type)) {
      return corrupt(where + ": an array of " + number(count) + " " +
                     std::string(type_name(array.type)) + " where the file has " +
                     number(reader_.left()) + " bytes left");
    }
    for (uint64_t i = 0; i < count; ++i) {
      THINKD_CHECK(item(where, i, array));
    }
    return array;
  }

  Status item(const std::string& where, uint64_t i, Array& array) {
    if (array.type == kString) {
      Result<std::string> text = string();
      if (!text.ok()) {
        return text.status().within(where + ", item " + number(i));
      }
      array.texts.push_back(*std::move(text));
      return {};
    }
    Value value{.type = array.type, .held = {}};
    THINKD_CHECK(scalar(where, value));
    if (const auto* real = std::get_if<double>(&value.held)) {
      array.floats.push_back(*real);
    } else if (const auto* whole = std::get_if<uint64_t>(&value.held)) {
      if (*whole > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return corrupt(where + ": item " + number(i) + " is " + number(*whole) +
                       ", more than 2^63 - 1");
      }
      array.ints.push_back(static_cast<int64_t>(*whole));
    } else if (const auto* sign = std::get_if<int64_t>(&value.held)) {
      array.ints.push_back(*sign);
    } else {
      array.ints.push_back(std::get<bool>(value.held) ? 1 : 0);
    }
    return {};
  }

  Status alignment() {
    const auto found = file_.values_.find("general.alignment");
    if (found == file_.values_.end()) {
      return {};
    }
    const Value& value = found->second;
    if (value.type != kU32) {
      return corrupt("key 'general.alignment': is " + std::string(type_name(value.type)) +
                     ", not u32");
    }
    alignment_ = std::get<uint64_t>(value.held);
    if (!std::has_single_bit(alignment_) || alignment_ > limits::kGgufAlignment) {
      return corrupt("key 'general.alignment': " + number(alignment_) +
                     " is not a power of two up to " + number(limits::kGgufAlignment));
    }
    return {};
  }

  Status tensor(uint64_t i) {
    const std::string nth = "tensor " + number(i) + " of " + number(tensor_count_);
    Result<std::string> name = string();
    if (!name.ok()) {
      return name.status().within(nth + ", its name");
    }
    const std::string where = "tensor " + shown(*name);
    if (name->empty()) {
      return corrupt(nth + ": its name is empty");
    }
    GgufTensor tensor;
    const auto dimensions = reader_.read<uint32_t>();
    if (reader_.failed()) {
      return ends(where);
    }
    if (dimensions < 1 || dimensions > 4) {
      return corrupt(where + ": " + number(dimensions) + " dimensions, not 1 to 4");
    }
    std::optional<uint64_t> elements = 1;
    for (uint32_t d = 0; d < dimensions; ++d) {
      const auto extent = reader_.read<uint64_t>();
      if (!reader_.failed() && extent == 0) {
        return corrupt(where + ": extent " + number(d) + " is 0");
      }
      tensor.extents.push_back(extent);
      elements = elements ? checked_mul(*elements, extent) : std::nullopt;
    }
    const auto type = reader_.read<uint32_t>();
    const auto offset = reader_.read<uint64_t>();
    if (reader_.failed()) {
      return ends(where);
    }
    const std::optional<TensorType> known = tensor_type(type);
    if (!known) {
      return unavailable(where + ": type " + number(type) + " is none that thinkd reads");
    }
    tensor.type = *known;
    const TensorTypeInfo& layout = info(tensor.type);
    if (tensor.extents[0] % layout.block_elements != 0) {
      return corrupt(where + ": rows of " + number(tensor.extents[0]) +
                     " elements, not a multiple of " + std::string(layout.name) + "'s block of " +
                     number(layout.block_elements));
    }
    if (elements) {
      elements = checked_mul(*elements / layout.block_elements, layout.block_bytes);
    }
    if (!elements) {
      return corrupt(where + ": its extents multiply past 2^64");
    }
    if (!file_.index_.emplace(*name, file_.tensors_.size()).second) {
      return corrupt(where + ": comes twice");
    }
    tensor.name = *std::move(name);
    file_.tensors_.push_back(std::move(tensor));
    places_.push_back({offset, *elements});
    return {};
  }

  // The data section begins where the last tensor's entry ends, so offsets are judged afterwards.
  Status place_tensors() {
    const std::span<const uint8_t> bytes = file_.file_.bytes();
    const uint64_t begin = (reader_.position() + alignment_ - 1) / alignment_ * alignment_;
    const std::span<const uint8_t> data =
        begin < bytes.size() ? bytes.subspan(begin) : std::span<const uint8_t>();
    uint64_t total = 0;
    for (size_t i = 0; i < places_.size(); ++i) {
      const auto [offset, size] = places_[i];
      const std::string where = "tensor " + shown(file_.tensors_[i].name);
      if (offset % alignment_ != 0) {
        return corrupt(where + ": offset " + number(offset) +
                       " is not a multiple of the alignment " + number(alignment_));
      }
      if (size > data.size() || offset > data.size() - size) {
        return corrupt(where + ": offset " + number(offset) + " + " + number(size) +
                       " bytes is past the end of the data section (" + number(data.size()) +
                       " bytes of a file of " + number(bytes.size()) + ")");
      }
      total += size;  // cannot wrap: both are at most the file's size
      if (total > data.size()) {
        return corrupt(where + ": with it the tensors ask for " + number(total) +
                       " bytes, the data section has " + number(data.size()));
      }
      file_.tensors_[i].data = data.subspan(offset, size);
    }
    return {};
  }

  struct Place {
    uint64_t offset;
    uint64_t bytes;
  };

  GgufFile& file_;
  ByteReader reader_;
  uint64_t tensor_count_ = 0;
  uint64_t key_count_ = 0;
  uint64_t alignment_ = 32;
  std::vector<Place> places_;  // beside file_.tensors_
};

Status GgufParser::parse(GgufFile& file) { return Reading(file).parse(); }

}  // namespace thinkd::engine
