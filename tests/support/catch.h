#pragma once
// Catch2 as Debian 12 (2.13) and Debian 13 (3) ship it, under one name.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

// The text matcher: CHECK_THAT(message, Contains("limit")).
inline auto Contains(const std::string& part) {
#if __has_include(<catch2/catch_all.hpp>)
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}
