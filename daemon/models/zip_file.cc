#include "daemon/models/zip_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes.h"

namespace thinkd::daemon {
namespace {

constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEntrySignature = 0x02014b50;
constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint64_t kEndBytes = 22;
constexpr uint64_t kLocalBytes = 30;
constexpr uint64_t kPieceBytes = 256 << 10;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;

// Frees zlib's state on every way out.
class Inflater {
 public:
  Inflater() { ready_ = ::inflateInit2(&stream_, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready_) {
      ::inflateEnd(&stream_);
    }
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ready() const { return ready_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

Status inflate_all(std::span<const uint8_t> packed, const ByteSink& sink) {
  Inflater inflater;
  if (!inflater.ready()) {
    return internal_error("zlib does not start");
  }
  z_stream& stream = inflater.stream();
  std::vector<uint8_t> piece(kPieceBytes);
  stream.next_in = const_cast<Bytef*>(packed.data());  // zlib does not write there
  stream.avail_in = static_cast<uInt>(packed.size());  // below 4 GiB by the format
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END) {
      return corrupt("its compressed data is damaged");
    }
    THINKD_CHECK(sink(std::span(piece).first(piece.size() - stream.avail_out)));
  }
  return {};
}

}  // namespace

Result<ZipFile> ZipFile::open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped.ok()) {
    return mapped.status();
  }
  ZipFile zip(*std::move(mapped), path);
  if (Status status = zip.read_directory(); !status.ok()) {
    return status.within(path);
  }
  return zip;
}

Status ZipFile::read_directory() {
  const std::span<const uint8_t> bytes = file_.bytes();
  if (bytes.size() < kEndBytes) {
    return corrupt("no zip archive: only " + std::to_string(bytes.size()) + " bytes");
  }
  // The end record stands last but for a comment of up to 65,535 bytes.
  const uint64_t least = bytes.size() - std::min<uint64_t>(bytes.size(), kEndBytes + 0xffff);
  uint64_t end = bytes.size() - kEndBytes;
  while (ByteReader(bytes.subspan(end)).read<uint32_t>() != kEndSignature) {
    if (end == least) {
      return corrupt("no zip archive: it has no end record");
    }
    --end;
  }
  ByteReader record(bytes.subspan(end));
  record.skip(10);
  const auto count = record.read<uint16_t>();
  const auto size = record.read<uint32_t>();
  const auto offset = record.read<uint32_t>();
  if (offset > end || size > end - offset) {
    return corrupt("zip directory: offset " + std::to_string(offset) + " + " +
                   std::to_string(size) + " bytes is past its end record at " +
                   std::to_string(end));
  }
  ByteReader entries(bytes.subspan(offset, size));
  for (uint32_t i = 0; i < count; ++i) {
    const auto signature = entries.read<uint32_t>();
    entries.skip(4);
    const auto flags = entries.read<uint16_t>();
    Member member;
    member.method = entries.read<uint16_t>();
    entries.skip(4);
    member.crc = entries.read<uint32_t>();
    member.packed_bytes = entries.read<uint32_t>();
    member.bytes = entries.read<uint32_t>();
    const auto name_size = entries.read<uint16_t>();
    const auto extra_size = entries.read<uint16_t>();
    const auto comment_size = entries.read<uint16_t>();
    entries.skip(8);
    member.header = entries.read<uint32_t>();
    const std::string name(entries.text(name_size));
    entries.skip(uint64_t{extra_size} + comment_size);
    if (entries.failed() || signature != kEntrySignature) {
      return corrupt("zip directory: entry " + std::to_string(i) + " of " + std::to_string(count) +
                     " is damaged");
    }
    constexpr uint16_t kEncrypted = 1;
    if ((flags & kEncrypted) == 0) {
      members_.emplace(name, member);
    }
  }
  return {};
}

Result<std::span<const uint8_t>> ZipFile::packed(const Member& member) const {
  const std::span<const uint8_t> bytes = file_.bytes();
  if (member.header > bytes.size()) {
    return corrupt("its header is past the end of the file");
  }
  ByteReader local(bytes.subspan(member.header));
  const auto signature = local.read<uint32_t>();
  local.skip(22);
  const auto name_size = local.read<uint16_t>();
  const auto extra_size = local.read<uint16_t>();
  local.skip(uint64_t{name_size} + extra_size);
  if (local.failed() || signature != kLocalSignature || member.packed_bytes > local.left()) {
    return corrupt("its header or its " + std::to_string(member.packed_bytes) +
                   " bytes do not lie in the file");
  }
  return bytes.subspan(member.header + kLocalBytes + name_size + extra_size, member.packed_bytes);
}

Status ZipFile::extract(const std::string& name, const ByteSink& sink) const {
  const auto found = members_.find(name);
  if (found == members_.end()) {
    return not_found(path_ + ": holds no '" + name + "'");
  }
  const Member& member = found->second;
  const std::string where = path_ + ": '" + name + "'";
  const Result<std::span<const uint8_t>> data = packed(member);
  THINKD_CHECK(data.status().within(where));
  uint64_t total = 0;
  uLong crc = ::crc32(0, nullptr, 0);
  const ByteSink counted = [&](std::span<const uint8_t> piece) -> Status {
    total += piece.size();
    if (total > member.bytes) {
      return corrupt("is longer than the " + std::to_string(member.bytes) +
                     " bytes it should have");
    }
    crc = ::crc32(crc, piece.data(), static_cast<uInt>(piece.size()));
    return sink(piece);
  };
  if (member.method == kStored) {
    for (uint64_t at = 0; at < data->size(); at += kPieceBytes) {
      THINKD_CHECK(
          counted(data->subspan(at, std::min(kPieceBytes, data->size() - at))).within(where));
    }
  } else if (member.method == kDeflated) {
    THINKD_CHECK(inflate_all(*data, counted).within(where));
  } else {
    return unavailable(where + ": compression " + std::to_string(member.method) + " is not known");
  }
  if (total != member.bytes) {
    return corrupt(where + ": has " + std::to_string(total) + " bytes, not " +
                   std::to_string(member.bytes));
  }
  if (crc != member.crc) {
    return corrupt(where + ": its CRC-32 is wrong");
  }
  return {};
}

}  // namespace thinkd::daemon
