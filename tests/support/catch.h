#pragma once
// Catch2 as Debian 12 (2.13) and Debian 13 (3) ship it, under one name.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
using Catch::Matchers::Contains;
#endif
