#pragma once
// Exact integers and fractions of any size, for .cc files of this room only (the header is heavy).
// Callers bound sizes before they multiply: nothing here limits growth.

#include <boost/multiprecision/cpp_int.hpp>

namespace thinkd::verifiers::math {

// Expression templates off: results are plain values, safe with auto.
using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                              boost::multiprecision::et_off>;
using Rational = boost::multiprecision::number<
    boost::multiprecision::rational_adaptor<boost::multiprecision::cpp_int_backend<>>,
    boost::multiprecision::et_off>;

}  // namespace thinkd::verifiers::math
