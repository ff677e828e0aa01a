#include "base/text.h"

#include <cstdint>
#include <limits>

#include "base/philox.h"
#include "tests/support/catch.h"

namespace thinkd {

namespace {

// UTF-8 written from the code point ranges of the standard, independent of the reader's tables.
std::string encoded(uint32_t point) {
  std::string out;
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | point >> 6);
    out += static_cast<char>(0x80 | (point & 63));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | point >> 12);
    out += static_cast<char>(0x80 | (point >> 6 & 63));
    out += static_cast<char>(0x80 | (point & 63));
  } else {
    out += static_cast<char>(0xF0 | point >> 18);
    out += static_cast<char>(0x80 | (point >> 12 & 63));
    out += static_cast<char>(0x80 | (point >> 6 & 63));
    out += static_cast<char>(0x80 | (point & 63));
  }
  return out;
}

}  // namespace

TEST_CASE("numbers are the whole text or nothing") {
  CHECK(parse_int("-9223372036854775808") == INT64_MIN);
  CHECK(parse_int("0") == 0);
  CHECK(parse_uint("18446744073709551615") == UINT64_MAX);
  CHECK(parse_double("1e-3") == 0.001);
  CHECK(parse_double("-2") == -2.0);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1a", "--1", "9223372036854775808"}) {
    INFO(text);
    CHECK_FALSE(parse_int(text));
  }
  for (const char* text : {"", "-1", "+1", "18446744073709551616", "1.0"}) {
    INFO(text);
    CHECK_FALSE(parse_uint(text));
  }
  for (const char* text : {"", "inf", "nan", "1e400", "+1", " 1", "1,5", "1e", "0x1p3"}) {
    INFO(text);
    CHECK_FALSE(parse_double(text));
  }
}

TEST_CASE("a leading zero is seen") {
  for (const char* text : {"00", "02", "-01", "00.5", "007e1"}) {
    INFO(text);
    CHECK(has_leading_zero(text));
  }
  for (const char* text : {"", "-", "0", "-0", "0.5", "-0.5", "10", "0e1", "a01"}) {
    INFO(text);
    CHECK_FALSE(has_leading_zero(text));
  }
}

TEST_CASE("a formatted double reads back equal and is short") {
  CHECK(format_double(0.1) == "0.1");
  CHECK(format_double(5) == "5");
  for (uint64_t i = 0; i < 1000; ++i) {
    const double value = (uniform({1, 2}, i) - 0.5) * 1e6;
    CHECK(parse_double(format_double(value)) == value);
  }
  CHECK(parse_double(format_double(std::numeric_limits<double>::denorm_min())) ==
        std::numeric_limits<double>::denorm_min());
}

TEST_CASE("UTF-8: every scalar value and nothing else") {
  uint32_t wrong = 0;
  for (uint32_t point = 0; point < 0x110000; ++point) {
    const bool surrogate = point >= 0xD800 && point <= 0xDFFF;
    wrong += valid_utf8(encoded(point)) == surrogate;
  }
  CHECK(wrong == 0);
  CHECK_FALSE(valid_utf8(encoded(0x110000)));
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
                           "\xe2\x82", "a\xff", "\xf8\x88\x80\x80\x80"}) {
    CHECK_FALSE(valid_utf8(text));
  }
}

TEST_CASE("repair replaces each bad byte and keeps the rest") {
  CHECK(repair_utf8("ok \xE2\x82\xAC") == "ok \xE2\x82\xAC");
  CHECK(repair_utf8("a\xE2\x82z") == "a\xEF\xBF\xBD\xEF\xBF\xBDz");
  for (uint64_t i = 0; i < 300; ++i) {
    std::string noise;
    for (uint64_t j = 0; j < 20; ++j) {
      noise +=
          static_cast<char>(static_cast<uint8_t>(uniform({3, static_cast<uint32_t>(i)}, j) * 256));
    }
    CHECK(valid_utf8(repair_utf8(noise)));
  }
}

TEST_CASE("controls are shown, white space trimmed, parts split") {
  CHECK(escape_controls("a\nb\x1b[0m\x7f") == "a\\x0ab\\x1b[0m\\x7f");
  CHECK(trim(" \t\r\n a b \v\f") == "a b");
  CHECK(trim("   ").empty());
  CHECK(split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(split("", ',') == std::vector<std::string_view>{""});
}

}  // namespace thinkd
