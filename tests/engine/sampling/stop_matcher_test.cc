#include "engine/sampling/stop_matcher.h"

#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace thinkd::engine {
namespace {

TEST_CASE("a stop text is found where it ends, whatever the cuts between tokens") {
  const std::vector<std::string> stops = {"\n\n", "END"};
  StopMatcher matcher;
  CHECK(!matcher.feed("abc\n", stops));
  CHECK(matcher.feed("\nd", stops) == 3);  // "\n" of the last call, "\nd" of this one
}

TEST_CASE("the stop that begins first wins") {
  const std::vector<std::string> stops = {"bc", "abcd"};
  StopMatcher matcher;
  CHECK(!matcher.feed("xa", stops));
  CHECK(matcher.feed("bcd", stops) == 4);
}

TEST_CASE("no stops, or empty ones, never match and keep nothing") {
  StopMatcher matcher;
  CHECK(!matcher.feed("anything", {}));
  const std::vector<std::string> stops = {""};
  CHECK(!matcher.feed("anything", stops));
}

// Oracle: the first prefix of the whole text, at a token's end, that holds a stop text.
TEST_CASE("random texts cut at random places agree with a search of the whole text") {
  const uint32_t seed = 20260901;
  INFO("seed=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> stops;
    for (uint32_t i = 0; i < 1 + random() % 3; ++i) {
      std::string stop;
      for (uint32_t k = 0; k < 1 + random() % 4; ++k) {
        stop += static_cast<char>('a' + random() % 2);
      }
      stops.push_back(stop);
    }
    StopMatcher matcher;
    std::string text;
    for (int token = 0; token < 12; ++token) {
      std::string bytes;
      for (uint32_t k = 0; k < random() % 4; ++k) {
        bytes += static_cast<char>('a' + random() % 3);
      }
      text += bytes;
      const auto found = matcher.feed(bytes, stops);
      size_t expected = std::string::npos;
      for (const std::string& stop : stops) {
        expected = std::min(expected, text.find(stop));
      }
      REQUIRE(found.has_value() == (expected != std::string::npos));
      if (found) {
        CHECK(text.size() - *found == expected);
        break;
      }
    }
  }
}

}  // namespace
}  // namespace thinkd::engine
