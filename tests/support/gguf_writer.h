#pragma once
// Writes GGUF v3 files for tests, right or wrong: nothing is checked. Written from the format's
// description, not from engine/model/gguf.cc, so that each is an oracle for the other.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace thinkd::testing {

class GgufWriter {
 public:
  // The numbers of GGUF's value types.
  enum Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

  template <class T>
  GgufWriter& key(std::string_view name, Type type, T value) {
    start(name, type).write(value);
    return *this;
  }
  GgufWriter& key_u32(std::string_view name, uint32_t value) { return key(name, u32, value); }
  GgufWriter& key_f32(std::string_view name, float value) { return key(name, f32, value); }
  GgufWriter& key_bool(std::string_view name, bool value) {
    return key(name, boolean, static_cast<uint8_t>(value));
  }
  GgufWriter& key_text(std::string_view name, std::string_view value) {
    text(start(name, string), value);
    return *this;
  }
  GgufWriter& key_texts(std::string_view name, const std::vector<std::string>& values) {
    ByteWriter& out = start(name, array).write(uint32_t{string}).write(uint64_t{values.size()});
    for (const std::string& value : values) {
      text(out, value);
    }
    return *this;
  }
  GgufWriter& key_ints(std::string_view name, const std::vector<int32_t>& values) {
    ByteWriter& out = start(name, array).write(uint32_t{i32}).write(uint64_t{values.size()});
    for (const int32_t value : values) {
      out.write(value);
    }
    return *this;
  }

  // `extents` innermost first; `data` in the layout of the type.
  GgufWriter& tensor(std::string_view name, const std::vector<uint64_t>& extents, uint32_t type,
                     std::string_view data) {
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    return tensor_entry(name, extents, type, data_.size(), data);
  }
  // As above with a made-up offset; `data` is appended wherever the data section ends.
  GgufWriter& tensor_entry(std::string_view name, const std::vector<uint64_t>& extents,
                           uint32_t type, uint64_t offset, std::string_view data) {
    text(tensors_, name).write(static_cast<uint32_t>(extents.size()));
    for (const uint64_t extent : extents) {
      tensors_.write(extent);
    }
    tensors_.write(type).write(offset);
    data_.append(data);
    ++tensor_count;
    return *this;
  }

  std::string bytes() const {
    ByteWriter out;
    out.text(magic).write(version).write(tensor_count).write(key_count);
    std::string file = out.bytes() + keys_.bytes() + tensors_.bytes();
    if (!data_.empty()) {
      file.resize((file.size() + alignment - 1) / alignment * alignment);
    }
    return file + data_;
  }

  // To be set wrong by tests that want a wrong file. The alignment is only what this class pads to.
  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t tensor_count = 0;
  uint64_t key_count = 0;
  uint64_t alignment = 32;

 private:
  static ByteWriter& text(ByteWriter& out, std::string_view value) {
    return out.write(uint64_t{value.size()}).text(value);
  }
  ByteWriter& start(std::string_view name, Type type) {
    ++key_count;
    return text(keys_, name).write(uint32_t{type});
  }

  ByteWriter keys_;
  ByteWriter tensors_;
  std::string data_;
};

}  // namespace thinkd::testing
