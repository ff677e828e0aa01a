#pragma once
// The constants of exp in every table: x = n ln 2 + r, |r| <= ln 2 / 2, exp(x) = 2^n p(r), p the
// Taylor polynomial of degree 7, whose remainder is below 0.3466^8 / 8! < 6e-9 of the result.

namespace thinkd::engine {

inline constexpr float kExpLowest = -87.33f;  // smaller results would be denormal: 0
inline constexpr float kExpHighest = 88.37f;  // larger ones do not fit 2^127: infinity
inline constexpr float kLog2e = 1.44269504088896341f;
inline constexpr float kLn2High = 0.693145751953125f;      // 15 bits: n * this is exact
inline constexpr float kLn2Low = 1.42860682030941723e-6f;  // ln 2 - kLn2High
inline constexpr float kExpTerms[] = {                     // highest first: 1/7! ... 1/1!, 1/0!
    1.98412698e-4f, 1.38888889e-3f, 8.33333333e-3f, 4.16666667e-2f,
    1.66666667e-1f, 0.5f,           1.0f,           1.0f};

}  // namespace thinkd::engine
