set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(THINKD_TESTS "build the tests" ON)
option(THINKD_WERROR "warnings are errors" ON)
option(THINKD_FUZZ "fuzz targets under libFuzzer, by clang; without it they replay their corpus" OFF)
set(THINKD_SANITIZE "" CACHE STRING "sanitizers for the whole build: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The kernels vectorise by hand; -O3 elsewhere buys nothing but compile time.
string(REPLACE "-O3" "-O2" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# Asserts are on in every build but Release.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# Sums are cut at fixed places: no contraction that depends on how the compiler lays out a loop.
add_compile_options(-ffp-contract=off)
# Designated initialisers leave fields at their defaults on purpose.
add_compile_options(-Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
# g++ 12, optimising, warns of moved-from variants and of string concatenation (its bug 105651).
add_compile_options("$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wno-maybe-uninitialized;-Wno-restrict>")
# clang finds libstdc++ 12's own use of a deprecated buffer in std::stable_sort.
add_compile_options($<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(THINKD_WERROR)
  add_compile_options(-Werror)
endif()
if(THINKD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "THINKD_FUZZ needs clang; use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(THINKD_SANITIZE)
  add_compile_options(-fsanitize=${THINKD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${THINKD_SANITIZE})
  # Fences, which TSan cannot follow, make g++ 12 warn.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
