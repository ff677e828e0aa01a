#pragma once
// Little-endian bytes in and out, and arithmetic on sizes that came from outside. Every read is
// bounds-checked: past the end it yields zero and the reader stays failed, to be asked once at the
// end, so that parsers read straight down.

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace thinkd {

static_assert(std::endian::native == std::endian::little, "thinkd stores numbers as they lie");

inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  explicit ByteReader(std::string_view text)
      : bytes_(reinterpret_cast<const uint8_t*>(text.data()), text.size()) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  T read() {
    T value{};
    if (const uint8_t* at = take(sizeof(T))) {
      std::memcpy(&value, at, sizeof(T));
    }
    return value;
  }

  // `size` bytes in place; empty (and failed) where fewer are left.
  std::string_view text(uint64_t size) {
    const uint8_t* at = take(size);
    return at ? std::string_view(reinterpret_cast<const char*>(at), size) : std::string_view();
  }

  // u32 length, then the bytes.
  std::string_view sized_text() { return text(read<uint32_t>()); }

  // u32 count, then the items; empty (and failed) where the count is past the end.
  template <class T>
  std::vector<T> array() {
    const uint64_t count = read<uint32_t>();
    std::vector<T> items;
    if (const uint8_t* at = take(count * sizeof(T))) {
      items.resize(count);
      if (count != 0) {
        std::memcpy(items.data(), at, count * sizeof(T));
      }
    }
    return items;
  }

  void skip(uint64_t size) { take(size); }
  uint64_t position() const { return position_; }
  uint64_t left() const { return bytes_.size() - position_; }
  bool failed() const { return failed_; }
  bool done() const { return !failed_ && left() == 0; }

 private:
  const uint8_t* take(uint64_t size) {
    if (failed_ || size > left()) {
      failed_ = true;
      return nullptr;
    }
    const uint8_t* at = bytes_.data() + position_;
    position_ += size;
    return at;
  }

  std::span<const uint8_t> bytes_;
  uint64_t position_ = 0;
  bool failed_ = false;
};

class ByteWriter {
 public:
  template <class T>
    requires std::is_trivially_copyable_v<T>
  ByteWriter& write(T value) {
    const auto* at = reinterpret_cast<const char*>(&value);
    out_.append(at, sizeof(T));
    return *this;
  }
  ByteWriter& text(std::string_view bytes) {
    out_.append(bytes);
    return *this;
  }
  ByteWriter& sized_text(std::string_view bytes) {
    return write(static_cast<uint32_t>(bytes.size())).text(bytes);
  }
  template <class T>
  ByteWriter& array(std::span<const T> items) {
    write(static_cast<uint32_t>(items.size()));
    out_.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
    return *this;
  }
  const std::string& bytes() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace thinkd
