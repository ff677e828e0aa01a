#pragma once
// Writes zip archives for tests, as the format's description has it.

#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace thinkd::testing {

class ZipWriter {
 public:
  ZipWriter& add(std::string_view name, std::string_view data, bool deflated) {
    const std::string packed = deflated ? deflate_raw(data) : std::string(data);
    const auto crc = static_cast<uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
    const auto offset = static_cast<uint32_t>(out_.bytes().size());
    const auto common = [&](ByteWriter& out) {
      out.write(uint16_t{20}).write(uint16_t{0}).write(static_cast<uint16_t>(deflated ? 8 : 0));
      out.write(uint32_t{0}).write(crc).write(static_cast<uint32_t>(packed.size()));
      out.write(static_cast<uint32_t>(data.size())).write(static_cast<uint16_t>(name.size()));
      out.write(uint16_t{0});
    };
    out_.write(uint32_t{0x04034b50});
    common(out_);
    out_.text(name).text(packed);
    directory_.write(uint32_t{0x02014b50}).write(uint16_t{20});
    common(directory_);
    directory_.write(uint16_t{0})
        .write(uint16_t{0})
        .write(uint16_t{0})
        .write(uint32_t{0})
        .write(offset);
    directory_.text(name);
    ++count_;
    return *this;
  }

  std::string bytes() const {
    ByteWriter end;
    end.write(uint32_t{0x06054b50})
        .write(uint16_t{0})
        .write(uint16_t{0})
        .write(count_)
        .write(count_);
    end.write(static_cast<uint32_t>(directory_.bytes().size()));
    end.write(static_cast<uint32_t>(out_.bytes().size())).write(uint16_t{0});
    return out_.bytes() + directory_.bytes() + end.bytes();
  }

 private:
  static std::string deflate_raw(std::string_view data) {
    z_stream stream{};
    ::deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string out(::deflateBound(&stream, data.size()), '\0');
    std::string in(data);
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    ::deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }

  ByteWriter out_;
  ByteWriter directory_;
  uint16_t count_ = 0;
};

}  // namespace thinkd::testing
