// RFC 4180 by its own examples, and what is not CSV.

#include "eval/csv.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace thinkd;
using namespace thinkd::eval;

namespace {

using Fields = std::vector<std::string>;

std::vector<Fields> records(std::string_view text) {
  CsvReader reader(text);
  std::vector<Fields> out;
  while (!reader.at_end()) {
    const auto fields = reader.next();
    INFO(fields.status().message());
    REQUIRE(fields.ok());
    out.push_back(*fields);
  }
  return out;
}

std::string refused(std::string_view text) {
  CsvReader reader(text);
  while (!reader.at_end()) {
    if (const auto fields = reader.next(); !fields) {
      return std::to_string(reader.line()) + ": " + fields.status().message();
    }
  }
  return "";
}

// The other direction, by the book.
std::string quoted(const Fields& fields, bool always) {
  std::string out;
  for (const std::string& field : fields) {
    out += out.empty() ? "" : ",";
    if (!always && field.find_first_of(",\"\r\n") == std::string::npos && !out.empty()) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      out += c == '"' ? "\"\"" : std::string(1, c);
    }
    out += '"';
  }
  return out;
}

}  // namespace

TEST_CASE("the examples of RFC 4180") {
  const std::vector<Fields> expected = {{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}};
  CHECK(records("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n") == expected);
  CHECK(records("aaa,bbb,ccc\r\nzzz,yyy,xxx") == expected);
  CHECK(records("aaa,bbb,ccc\nzzz,yyy,xxx\n") == expected);
  CHECK(records("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx") == expected);
  CHECK(records("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx") ==
        std::vector<Fields>{{"aaa", "b\r\nbb", "ccc"}, {"zzz", "yyy", "xxx"}});
  CHECK(records("\"aaa\",\"b\"\"bb\",\"ccc\"") == std::vector<Fields>{{"aaa", "b\"bb", "ccc"}});
  CHECK(records(",\n\n\"\"\n") == std::vector<Fields>{{"", ""}, {""}, {""}});
  CHECK(records("a\r") == std::vector<Fields>{{"a"}});
  CHECK(records("").empty());
}

TEST_CASE("what is written comes back, whatever is in the fields") {
  const char alphabet[] = {'a', ',', '"', '\n', '\r'};
  for (uint32_t pattern = 0; pattern < 5 * 5 * 5 * 5; ++pattern) {
    Fields fields = {"", ""};
    for (uint32_t i = 0, left = pattern; i < 4; ++i, left /= 5) {
      fields[i / 2] += alphabet[left % 5];
    }
    INFO(pattern);
    CHECK(records(quoted(fields, true) + "\r\n" + quoted(fields, false)) ==
          std::vector<Fields>{fields, fields});
  }
}

TEST_CASE("what is not CSV is refused at its line") {
  CHECK_THAT(refused("a\n\"b"), Contains("2: ") && Contains("never closed"));
  CHECK_THAT(refused("\"a\n\nb\"\n\"c\"d"), Contains("4: ") && Contains("beside"));
  CHECK_THAT(refused("a\"b\""), Contains("1: ") && Contains("quote inside"));
  CHECK_THAT(refused("a\rb"), Contains("carriage return"));
}
