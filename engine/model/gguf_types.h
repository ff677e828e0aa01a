#pragma once
// The value types of a GGUF file's keys, by GGUF's numbers, and how its errors name things.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace thinkd::engine::gguf {

enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
  kTypeCount
};

inline std::string_view type_name(uint32_t type) {
  constexpr std::string_view kNames[kTypeCount] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                                   "i32", "f32", "bool", "string", "array",
                                                   "u64", "i64", "f64"};
  return type < kTypeCount ? kNames[type] : "of an unknown type";
}

inline bool is_integer(uint32_t type) { return type <= kI32 || type == kU64 || type == kI64; }

// A name as an error shows it: in quotes, on one line, not for pages.
inline std::string shown(std::string_view name) {
  constexpr size_t kShownBytes = 80;
  std::string text = escape_controls(repair_utf8(name.substr(0, kShownBytes)));
  return "'" + text + (name.size() > kShownBytes ? "...'" : "'");
}

}  // namespace thinkd::engine::gguf
