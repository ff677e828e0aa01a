#include "base/json.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "tests/support/catch.h"

namespace thinkd {

namespace {

Status refused(std::string_view text) {
  const Result<Json> value = parse_json(text);
  INFO("text: " << text.substr(0, 80));
  REQUIRE_FALSE(value.ok());
  return value.status();
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string wide(size_t members) {
  std::string text = "{";
  for (size_t i = 0; i < members; ++i) {
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  }
  return text + "}";
}

}  // namespace

TEST_CASE("values keep their kind") {
  const Result<Json> value = parse_json(
      R"( {"a":[1,-2,18446744073709551615,-9223372036854775808,1.5,1e3,true,false,null,"x"],"b":{}} )");
  REQUIRE(value.ok());
  const Json& a = value->at("a");
  CHECK(a.at(0).is_number_integer());
  CHECK(a.at(1).get<int64_t>() == -2);
  CHECK(a.at(2).get<uint64_t>() == UINT64_MAX);
  CHECK(a.at(3).get<int64_t>() == INT64_MIN);
  CHECK(a.at(4).get<double>() == 1.5);
  CHECK(a.at(5).is_number_float());
  CHECK(a.at(6).get<bool>());
  CHECK(a.at(8).is_null());
  CHECK(a.at(9).get<std::string>() == "x");
  CHECK(value->at("b").is_object());
}

TEST_CASE("scalars, empty containers and the extremes of double are values") {
  for (const char* text :
       {"1", "\"x\"", "true", "null", "[]", "{}", "0", "-0", "-0.0", "1e308", "4.9e-324", "0e-400",
        "-0.000e-999", "\"\\ud83d\\ude00\"", "[{},[[]]]"}) {
    INFO(text);
    CHECK(parse_json(text).ok());
  }
}

TEST_CASE("numbers are refused, not rounded") {
  for (const char* text : {"1e400", "-1e400", "[1e309]", "{\"id\":1e999}"}) {
    const Status status = refused(text);
    CHECK(status.code() == Code::invalid);
    CHECK_THAT(status.message(), Contains("not finite"));
  }
  for (const char* text :
       {"18446744073709551616", "-9223372036854775809", "[123456789012345678901]"}) {
    const Status status = refused(text);
    CHECK(status.code() == Code::invalid);
    CHECK_THAT(status.message(), Contains("64 bits"));
  }
  for (const char* text : {"1e-400", "[-1e-400]", "{\"top_p\":0.0001e-330}"}) {
    const Status status = refused(text);
    CHECK(status.code() == Code::invalid);
    CHECK_THAT(status.message(), Contains("not zero"));
  }
  for (const char* text : {"01", "+1", "1.", ".5", "0x10", "NaN", "Infinity", "-", "1e"}) {
    CHECK(refused(text).code() == Code::corrupt);
  }
}

TEST_CASE("text that is not JSON names the byte") {
  for (const char* text : {"", " ", "{", "[1,", "{\"a\":}", "[1,]", "{\"a\":1,}", "'a'", "{a:1}",
                           "1 2", "tru", "\"\t\"", "// x\n1", "[1] x"}) {
    const Status status = refused(text);
    CHECK(status.code() == Code::corrupt);
    CHECK_THAT(status.message(), Contains("byte"));
  }
  CHECK_THAT(refused("[1, x]").message(), Contains("byte 5"));
  CHECK(refused(std::string_view("1\0", 2)).code() == Code::corrupt);
}

TEST_CASE("text is UTF-8 without a byte order mark") {
  CHECK(refused("\xEF\xBB\xBF{}").code() == Code::corrupt);
  for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"",
                           "\"\xe2\x82\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\""}) {
    CHECK(refused(text).code() == Code::corrupt);
  }
}

TEST_CASE("a doubled key is refused by name, at any depth") {
  CHECK_THAT(refused(R"({"id":1,"id":2})").message(), Contains("'id'"));
  CHECK_THAT(refused(R"([{"a":{"b":1,"b":1}}])").message(), Contains("'b'"));
  CHECK_THAT(refused(R"({"method":1,"\u006dethod":2})").message(), Contains("'method'"));
  CHECK(parse_json(R"({"a":{"a":1},"b":{"a":1}})").ok());
}

TEST_CASE("depth and width are bounded") {
  CHECK(parse_json(nested(limits::kJsonDepth)).ok());
  CHECK(refused(nested(limits::kJsonDepth + 1)).code() == Code::limit);
  CHECK(refused(std::string(100'000, '[')).code() == Code::limit);
  CHECK(parse_json(wide(limits::kJsonMembers)).ok());
  const Status status = refused(wide(limits::kJsonMembers + 1));
  CHECK(status.code() == Code::limit);
  CHECK_THAT(status.message(), Contains(std::to_string(limits::kJsonMembers)));
}

TEST_CASE("written text is compact and always valid") {
  CHECK(to_text(Json{{"b", 1}, {"a", {1.5, nullptr}}}) == R"({"a":[1.5,null],"b":1})");
  CHECK(to_text(OrderedJson{{"b", 1}, {"a", 2}}) == R"({"b":1,"a":2})");
  CHECK(to_text(Json("a\xff\xe2\x82")) == "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  const Result<Json> back = parse_json(to_text(Json{{"x", 0.1}}));
  REQUIRE(back.ok());
  CHECK(back->at("x").get<double>() == 0.1);
}

}  // namespace thinkd
