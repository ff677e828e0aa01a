#pragma once
// The verbs by number, and what a record looks like.
//
//   header   u32 size (of the whole record) | u16 verb | u16 version | u64 ticket
//   request  the header, ticket 0, then the fields of its struct (records.h) in their order
//   result   the header with kResultBit in the verb, u32 status (thinkd_status), then the fields of
//            the result where it is 0, else one text that says what went wrong
//   fields   little-endian, no padding; bool and enums one byte; floats as their bits; branch u64;
//            text: u32 length + bytes; array: u32 count + items; optional: 0 or 1 + the value
//
// A record of another version is refused by name.

#include <cstdint>

namespace thinkd::sdk {

inline constexpr uint16_t kRecordVersion = 1;
inline constexpr uint16_t kResultBit = 0x8000;
inline constexpr uint32_t kHeaderBytes = 16;
inline constexpr uint32_t kMaxRecordBytes = 16u << 20;
inline constexpr uint32_t kToEnd = UINT32_MAX;  // a count: all that follows
inline constexpr uint32_t kLast = UINT32_MAX;   // a position: the last token

enum class Verb : uint16_t {
  open = 1,
  append,
  extend,
  logprobs,
  hidden,
  tokens,
  text,
  fork,
  truncate,
  drop,
  splice,
  verify,
  recall,  // reserved, as the next
  remember,
  random,
  now,
  emit,
  run = 64,  // what a strategy is started with; not a verb that it may submit
};

constexpr const char* verb_name(Verb verb) {
  switch (verb) {
    case Verb::open:
      return "open";
    case Verb::append:
      return "append";
    case Verb::extend:
      return "extend";
    case Verb::logprobs:
      return "logprobs";
    case Verb::hidden:
      return "hidden";
    case Verb::tokens:
      return "tokens";
    case Verb::text:
      return "text";
    case Verb::fork:
      return "fork";
    case Verb::truncate:
      return "truncate";
    case Verb::drop:
      return "drop";
    case Verb::splice:
      return "splice";
    case Verb::verify:
      return "verify";
    case Verb::recall:
      return "recall";
    case Verb::remember:
      return "remember";
    case Verb::random:
      return "random";
    case Verb::now:
      return "now";
    case Verb::emit:
      return "emit";
    case Verb::run:
      return "run";
  }
  return "unknown";
}

}  // namespace thinkd::sdk
