# presetbridge_options: what every target of ours is compiled with.
add_library(presetbridge_options INTERFACE)
target_include_directories(presetbridge_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(presetbridge_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror
  -Wno-missing-designated-field-initializers)
target_link_libraries(presetbridge_options INTERFACE Threads::Threads)
if(PRESETBRIDGE_SANITIZE)
  target_compile_options(presetbridge_options INTERFACE -fsanitize=${PRESETBRIDGE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(presetbridge_options INTERFACE -fsanitize=${PRESETBRIDGE_SANITIZE})
  if(PRESETBRIDGE_SANITIZE MATCHES "undefined")
    # The check of vptr opens a pipe to see whether memory can be read. Tests of a process without free file descriptors
    # make that fail, and the check reports a fault that is none. It is compiled into every source, so it is off for all.
    target_compile_options(presetbridge_options INTERFACE -fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
endif()
if(PRESETBRIDGE_FUZZ)
  target_compile_options(presetbridge_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# presetbridge_program: what our programs are linked with besides. Orders are allocated on one thread and freed on another,
# which mimalloc does far faster than glibc (docs/decisions/0011-mimalloc.md); nothing calls it by name. The sanitizers bring
# their own allocator.
add_library(presetbridge_program INTERFACE)
if(NOT PRESETBRIDGE_SANITIZE)
  target_link_libraries(presetbridge_program INTERFACE mimalloc)
endif()

# presetbridge_precompile(TARGET HEADERS...): the headers are parsed once for all sources of the target. A header of ours is
# given by its path in src. The preset fuzz does without, so that it finds a source that lacks an #include.
set(presetbridge_common_headers <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <ranges> <set> <span> <string>
  <string_view> <utility> <variant> <vector>)
function(presetbridge_precompile target)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/src/ REGEX "^[^<]")
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Without the time in it, ccache finds what was compiled with it.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# presetbridge_layer(NAME DEPENDS...): the library of the folder that calls it, from its *.cpp, linked PRIVATE, and one test
# program NAME_test from its *_test.cpp. Neither holds a folder `testing`. PRECOMPILE names headers of src that most sources of
# the folder include, PRECOMPILE_TESTS those that most of its tests include: they are parsed once for all of them. With
# BOTH_ENGINES ctest runs the program a second time, on PostgreSQL; with PARTS n it runs n of them, each a part of the tests,
# beside each other. What a header of the folder includes must be in DEPENDS too: include directories of system packages are
# global on Debian, so PRIVATE links are enough.
function(presetbridge_layer name)
  cmake_parse_arguments(ARG "BOTH_ENGINES" "PARTS" "DEPENDS;TEST_DEPENDS;PRECOMPILE;PRECOMPILE_TESTS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp ${CMAKE_CURRENT_SOURCE_DIR}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/testing/")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  if(sources)
    add_library(presetbridge_${name} STATIC ${sources})
    target_link_libraries(presetbridge_${name} PUBLIC presetbridge_options PRIVATE ${ARG_DEPENDS})
    presetbridge_precompile(presetbridge_${name} ${presetbridge_common_headers} ${ARG_PRECOMPILE})
    set(self presetbridge_${name})
  endif()
  if(BUILD_TESTING AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE presetbridge_options ${self} ${ARG_DEPENDS} ${ARG_TEST_DEPENDS}
      GTest::gtest GTest::gmock GTest::gtest_main)
    presetbridge_precompile(${name}_test <gmock/gmock.h> <gtest/gtest.h> ${ARG_PRECOMPILE_TESTS})
    if(NOT PRESETBRIDGE_SANITIZE)
      target_compile_options(${name}_test PRIVATE -O0) # half of what compiling it takes
    endif()
    presetbridge_add_parts(${name} ${name}_test 900 "${ARG_PARTS}" "")
    if(ARG_BOTH_ENGINES)
      presetbridge_add_parts(${name}.postgres ${name}_test 900 "${ARG_PARTS}" PRESETBRIDGE_TEST_ENGINE=postgres)
    endif()
  endif()
endfunction()

# The tests of a program as `parts` of them (one if empty), NAME.1 and so on.
function(presetbridge_add_parts name program timeout parts environment)
  if(NOT parts)
    add_test(NAME ${name} COMMAND ${program})
    set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${timeout} ENVIRONMENT "${environment}")
    return()
  endif()
  foreach(part RANGE 1 ${parts})
    math(EXPR index "${part} - 1")
    add_test(NAME ${name}.${part} COMMAND ${program})
    set_tests_properties(${name}.${part} PROPERTIES LABELS unit TIMEOUT ${timeout}
      ENVIRONMENT "${environment};GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
