#pragma once
// Bytes of records, written and read. Writer and Reader walk the field lists of the record structs;
// Reader checks every length against what is left before it takes it, and after the first fault
// reads nothing more. The fault names the field and both numbers. Used by codec.h.

#include <bit>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plugins/sdk/values.h"

namespace thinkd::sdk {

using Bytes = std::vector<uint8_t>;

class Writer {
 public:
  // Where given, branches are written as the text that it makes of them (argument hashes).
  explicit Writer(std::function<std::string(BranchId)> name_branch = {})
      : name_branch_(std::move(name_branch)) {}

  template <std::unsigned_integral T>
  void put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
    }
  }
  void put(bool value) { bytes_.push_back(value ? 1 : 0); }
  void put(int64_t value) { put(static_cast<uint64_t>(value)); }
  void put(float value) { put(std::bit_cast<uint32_t>(value)); }
  void put(double value) { put(std::bit_cast<uint64_t>(value)); }
  void put(const std::string& text) {
    put(static_cast<uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void put(BranchId branch) {
    if (name_branch_) {
      put(name_branch_(branch));
    } else {
      put(branch.value);
    }
  }
  template <class T>
    requires std::is_enum_v<T>
  void put(T value) {
    put(static_cast<std::underlying_type_t<T>>(value));
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(static_cast<uint32_t>(items.size()));
    for (const T& item : items) {
      put(item);
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void put(const T& record) {
    T::each_field(record, [this](const char*, const auto& value) { this->put(value); });
  }

  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
  std::function<std::string(BranchId)> name_branch_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : left_(bytes) {}

  bool ok() const { return fault_.empty(); }
  const std::string& fault() const { return fault_; }
  size_t left() const { return left_.size(); }

  template <std::unsigned_integral T>
  void take(const char* name, T& value) {
    if (!need(name, sizeof(T))) {
      return;
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      bits |= static_cast<uint64_t>(left_[i]) << (8 * i);
    }
    left_ = left_.subspan(sizeof(T));
    value = static_cast<T>(bits);
  }
  void take(const char* name, bool& value) {
    uint8_t byte = 0;
    take(name, byte);
    if (byte > 1) {
      fail(std::string(name) + " is " + std::to_string(byte) + ", not 0 or 1");
    }
    value = byte == 1;
  }
  void take(const char* name, int64_t& value) {
    uint64_t bits = 0;
    take(name, bits);
    value = static_cast<int64_t>(bits);
  }
  void take(const char* name, float& value) {
    uint32_t bits = 0;
    take(name, bits);
    value = std::bit_cast<float>(bits);
  }
  void take(const char* name, double& value) {
    uint64_t bits = 0;
    take(name, bits);
    value = std::bit_cast<double>(bits);
  }
  void take(const char* name, std::string& text) {
    uint32_t size = 0;
    take(name, size);
    if (ok() && need(name, size)) {
      text.assign(left_.begin(), left_.begin() + size);
      left_ = left_.subspan(size);
    }
  }
  void take(const char* name, BranchId& branch) { take(name, branch.value); }
  template <class T>
    requires std::is_enum_v<T>
  void take(const char* name, T& value) {
    std::underlying_type_t<T> number{};
    take(name, number);
    if (number > static_cast<std::underlying_type_t<T>>(last_value(T{}))) {
      fail(std::string(name) + " is " + std::to_string(number) + "; the last known value is " +
           std::to_string(static_cast<unsigned>(last_value(T{}))));
      return;
    }
    value = static_cast<T>(number);
  }
  template <class T>
  void take(const char* name, std::optional<T>& value) {
    bool there = false;
    take(name, there);
    if (ok() && there) {
      take(name, value.emplace());
    }
  }
  template <class T>
  void take(const char* name, std::vector<T>& items) {
    uint32_t count = 0;
    take(name, count);
    if (!ok()) {
      return;
    }
    if (count > left_.size() / least_size<T>()) {
      fail(std::string(name) + " claims " + std::to_string(count) + " items in " +
           std::to_string(left_.size()) + " bytes");
      return;
    }
    for (uint32_t i = 0; i < count && ok(); ++i) {
      take(name, items.emplace_back());
    }
  }
  template <class T>
    requires std::is_class_v<T>
  void take(const char*, T& record) {
    T::each_field(record, [this](const char* name, auto& value) {
      if (ok()) {
        take(name, value);
      }
    });
  }

  void fail(std::string text) {
    if (fault_.empty()) {
      fault_ = std::move(text);
    }
  }

 private:
  template <class T>
  static size_t least_size() {
    Writer writer;
    writer.put(T{});
    return writer.bytes().size();
  }
  bool need(const char* name, size_t size) {
    if (!ok()) {
      return false;
    }
    if (left_.size() < size) {
      fail(std::string(name) + " needs " + std::to_string(size) + " bytes; " +
           std::to_string(left_.size()) + " are left");
      return false;
    }
    return true;
  }

  std::span<const uint8_t> left_;
  std::string fault_;
};

}  // namespace thinkd::sdk
