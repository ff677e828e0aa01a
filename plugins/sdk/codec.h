#pragma once
// Records to bytes and back. Decoding checks version, verb, every length and every enum; what is
// left over is an error too. Nothing throws but std::bad_alloc. Pure functions, any thread.
//
// A host reads with peek() and decode<Extend>(bytes), answers with encode_result<Extend>(result,
// ticket) or encode_failure(...); a strategy writes with encode(request) and reads
// decode_result<Extend>(bytes).

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/sdk/records.h"
#include "plugins/sdk/thinkd_plugin.h"
#include "plugins/sdk/wire.h"

namespace thinkd::sdk {

struct Header {
  uint32_t size = 0;
  uint16_t verb = 0;  // with kResultBit in results
  uint16_t version = 0;
  uint64_t ticket = 0;
  static void each_field(auto& self, auto&& field) {
    field("size", self.size);
    field("verb", self.verb);
    field("version", self.version);
    field("ticket", self.ticket);
  }
};

// A value, or what is wrong with the bytes (`fault`), or, in results, how the verb failed.
template <class T>
struct Decoded {
  T value{};
  uint64_t ticket = 0;
  thinkd_status status = THINKD_OK;  // not OK: `fault` says why
  std::string fault;
  bool ok() const { return status == THINKD_OK; }
};

namespace detail {

inline Bytes seal(Writer&& writer) {
  Bytes bytes = std::move(writer.bytes());
  for (size_t i = 0; i < 4; ++i) {
    bytes[i] = static_cast<uint8_t>(bytes.size() >> (8 * i));
  }
  return bytes;
}

inline Writer begin(Verb verb, uint16_t bits, uint64_t ticket,
                    std::function<std::string(BranchId)> name_branch = {}) {
  Writer writer(std::move(name_branch));
  writer.put(
      Header{0, static_cast<uint16_t>(static_cast<uint16_t>(verb) | bits), kRecordVersion, ticket});
  return writer;
}

// The header of `bytes`, checked against them; the reader stands behind it.
inline Header take_header(Reader& reader, size_t size) {
  Header header;
  reader.take("header", header);
  if (reader.ok() && size > kMaxRecordBytes) {
    reader.fail("a record has at most " + std::to_string(kMaxRecordBytes) + " bytes, this one " +
                std::to_string(size));
  }
  if (reader.ok() && header.size != size) {
    reader.fail("size says " + std::to_string(header.size) + ", the record has " +
                std::to_string(size) + " bytes");
  }
  if (reader.ok() && header.version != kRecordVersion) {
    reader.fail("version " + std::to_string(header.version) + "; this build reads version " +
                std::to_string(kRecordVersion));
  }
  return header;
}

inline Header take_header_of(Reader& reader, size_t size, Verb verb, uint16_t bits) {
  Header header = take_header(reader, size);
  const uint16_t wanted = static_cast<uint16_t>(static_cast<uint16_t>(verb) | bits);
  if (reader.ok() && header.verb != wanted) {
    reader.fail("verb " + std::to_string(header.verb) + " where " + std::to_string(wanted) +
                " is expected");
  }
  return header;
}

template <class T>
void finish(Decoded<T>& out, const Reader& reader, std::string_view what) {
  std::string fault = reader.fault();
  if (fault.empty() && reader.left() != 0) {
    fault = std::to_string(reader.left()) + " bytes too many";
  }
  if (!fault.empty()) {
    out.status = THINKD_INVALID;
    out.fault = std::string(what) + ": " + fault;
  }
}

}  // namespace detail

// The header alone: which verb a record is of.
inline Decoded<Header> peek(std::span<const uint8_t> bytes) {
  Decoded<Header> out;
  Reader reader(bytes);
  out.value = detail::take_header(reader, bytes.size());
  out.ticket = out.value.ticket;
  if (!reader.ok()) {
    out.status = THINKD_INVALID;
    out.fault = "record: " + reader.fault();
  }
  return out;
}

template <class R>
Bytes encode(const R& request, uint64_t ticket = 0) {
  Writer writer = detail::begin(R::kVerb, 0, ticket);
  writer.put(request);
  return detail::seal(std::move(writer));
}

// What the argument hash is taken of: the request, ticket 0, with branches as their recipe hashes.
template <class R>
Bytes encode_arguments(const R& request, std::function<std::string(BranchId)> recipe_hash) {
  Writer writer = detail::begin(R::kVerb, 0, 0, std::move(recipe_hash));
  writer.put(request);
  return detail::seal(std::move(writer));
}

template <class R>
Decoded<R> decode(std::span<const uint8_t> bytes) {
  Decoded<R> out;
  Reader reader(bytes);
  out.ticket = detail::take_header_of(reader, bytes.size(), R::kVerb, 0).ticket;
  if (reader.ok()) {
    reader.take(verb_name(R::kVerb), out.value);
  }
  detail::finish(out, reader, verb_name(R::kVerb));
  return out;
}

// R is the request: encode_result<Extend>(result, ticket).
template <class R>
Bytes encode_result(const typename R::Result& result, uint64_t ticket) {
  Writer writer = detail::begin(R::kVerb, kResultBit, ticket);
  writer.put(static_cast<uint32_t>(THINKD_OK));
  writer.put(result);
  return detail::seal(std::move(writer));
}

inline Bytes encode_failure(Verb verb, uint64_t ticket, thinkd_status status,
                            const std::string& text) {
  Writer writer = detail::begin(verb, kResultBit, ticket);
  writer.put(static_cast<uint32_t>(status));
  writer.put(text);
  return detail::seal(std::move(writer));
}

template <class R>
Decoded<typename R::Result> decode_result(std::span<const uint8_t> bytes) {
  Decoded<typename R::Result> out;
  Reader reader(bytes);
  out.ticket = detail::take_header_of(reader, bytes.size(), R::kVerb, kResultBit).ticket;
  uint32_t status = 0;
  if (reader.ok()) {
    reader.take("status", status);
  }
  if (reader.ok() && status > static_cast<uint32_t>(THINKD_FAILED)) {
    reader.fail("status " + std::to_string(status) + " is unknown");
  }
  if (reader.ok() && status == static_cast<uint32_t>(THINKD_OK)) {
    reader.take(verb_name(R::kVerb), out.value);
  } else if (reader.ok()) {
    reader.take("failure", out.fault);
    out.status = static_cast<thinkd_status>(status);
  }
  detail::finish(out, reader, std::string(verb_name(R::kVerb)) + " result");
  return out;
}

}  // namespace thinkd::sdk
