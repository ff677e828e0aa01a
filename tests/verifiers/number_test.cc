#include "verifiers/number.h"

#include "tests/support/catch.h"

using namespace thinkd::verifiers;

TEST_CASE("numbers as people write them, exactly") {
  const std::pair<const char*, const char*> cases[] = {
      {"3,600", "3600"},
      {"\\$1,250.50", "2501/2"},
      {"-.75", "-3/4"},
      {"\\frac{14}{21}", "2/3"},
      {"\\frac58", "5/8"},
      {"3 1/4", "13/4"},
      {"-2\\frac{2}{5}", "-12/5"},
      {"6.02e23", "602000000000000000000000"},
      {"5 \\cdot 10^{-3}", "1/200"},
      {"120^\\circ", "120"},
      {"12 inches", "12"},
      {"007", "7"},
      {"x = 9", "9"},
      {"€7.20", "36/5"},
      {"123456789012345678901234567890", "123456789012345678901234567890"}};
  for (const auto& [text, canonical] : cases) {
    INFO(text);
    const auto number = parse_number(text);
    REQUIRE(number.has_value());
    CHECK(number->canonical == canonical);
  }
  for (const char* text : {"", "x", "7, 8", "Monday", "\\pi", "1e999999", "1/0", "--", "3 4"}) {
    INFO(text);
    CHECK_FALSE(parse_number(text).has_value());
  }
}

TEST_CASE("percent and its two readings") {
  const Number percent = *parse_number("45\\%");
  CHECK(percent.percent);
  CHECK(percent.matches(*parse_number("45")));
  CHECK(percent.matches(*parse_number("0.45")));
  CHECK(parse_number("9/20")->matches(percent));
  CHECK_FALSE(percent.matches(*parse_number("4.5")));
  CHECK_FALSE(percent.matches(*parse_number("0.45%")));
  CHECK(parse_number("-50%")->matches(*parse_number("-1/2")));
}
