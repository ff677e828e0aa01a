#pragma once
// Exact numbers as people write them: signs, decimals, thousands groups (commas, thin spaces),
// percents, currency, degree marks, units, fractions (3/8, \frac{3}{8}, \frac38), mixed numbers,
// scientific notation. A number is kept as a reduced fraction of big integers; no float anywhere.
// Runs above 256 digits and exponents above 1,000 are refused, not rounded.

#include <optional>
#include <string>
#include <string_view>

namespace thinkd::verifiers {

struct Number {
  std::string canonical;  // "-7/2", "13", "1/8": equal numbers have equal text
  bool percent = false;   // written with a percent sign; canonical holds the number before the sign

  // Equal as numbers, or as a percent and its fraction (45% = 45 = 0.45; 45% = 45%, not 0.45%).
  bool matches(const Number& other) const;
};

// nullopt where the text is not one number.
std::optional<Number> parse_number(std::string_view text);

}  // namespace thinkd::verifiers
