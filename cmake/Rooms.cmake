# thinkd_room(engine SOURCES ... DEPENDS base ...): the library of one folder, seen as "engine/...".
# USES names libraries of the distribution that stay private to the room.
function(thinkd_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;USES" ${ARGN})
  add_library(thinkd_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(thinkd_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  foreach(dependency ${ROOM_DEPENDS})
    target_link_libraries(thinkd_${name} PUBLIC thinkd_${dependency})
  endforeach()
  target_link_libraries(thinkd_${name} PRIVATE ${ROOM_USES})
endfunction()

# thinkd_test(engine/kv SOURCES a_test.cc ... DEPENDS engine): one test binary and one ctest entry.
function(thinkd_test name)
  cmake_parse_arguments(TEST "" "TIMEOUT" "SOURCES;DEPENDS;USES;LABELS" ${ARGN})
  string(REPLACE "/" "_" target test_${name})
  add_executable(${target} ${TEST_SOURCES})
  foreach(dependency ${TEST_DEPENDS})
    target_link_libraries(${target} PRIVATE thinkd_${dependency})
  endforeach()
  target_link_libraries(${target} PRIVATE thinkd_catch ${TEST_USES})
  # Compiling the test framework costs more than running unoptimised checks; the rooms stay optimised.
  target_compile_options(${target} PRIVATE -O0)
  target_compile_definitions(${target} PRIVATE THINKD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${target})
  if(NOT TEST_TIMEOUT)
    set(TEST_TIMEOUT 300)
  endif()
  if(THINKD_SANITIZE STREQUAL "thread")
    math(EXPR TEST_TIMEOUT "${TEST_TIMEOUT} * 4")  # a bound for hangs, and everything is slower
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${TEST_TIMEOUT} LABELS "${TEST_LABELS}")
endfunction()
