# SPDX-License-Identifier: Apache-2.0
# The kinds of target: a layer (one folder of engine/), a transport, a test program.

# What nearly every source includes is compiled once, by a target of its own; all others reuse it.
file(WRITE "${CMAKE_BINARY_DIR}/precompiled.cpp" "")
function(leadline_precompile target)
  add_library(${target} OBJECT "${CMAKE_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/leadline_precompiled.hpp")
endfunction()
leadline_precompile(leadline_precompiled)

# Layers that tests compute with for longer than it takes to optimise them, measured under the sanitizers: a quarter of the time instead of all of it.
set(leadline_layers_that_compute core diagnosis memory schedule stats synthetic)
if(LEADLINE_SANITIZE STREQUAL "address")
  leadline_precompile(leadline_precompiled_O2 -O2) # clang wants the level that the header was compiled with
endif()

# Layers that read what comes from outside: the fuzzers are told which of their functions an input reaches.
set(LEADLINE_FUZZ_COVERAGE "func,inline-8bit-counters,pc-table" CACHE STRING
  "what fuzzers are told of the layers that read (for a long search: edge,inline-8bit-counters,pc-table,trace-cmp, a sixth longer to compile)")
set(leadline_layers_of_readers cluster command core memory network options result schedule synthetic)

# Layers through which no timed loop runs and that compute little: quick to compile is what counts there. The rings of bench_collective are timed; at -O1
# they add numbers as fast as at -O2, at -Og a fifth slower.
set(leadline_layers_at_O1 bench_collective bench_link core model network result synthetic)
set(leadline_layers_at_Og bench check cli cluster command compat options output)

# leadline_layer(NAME [SOURCES pattern...] [USES library...]): all sources of this folder, or those of the patterns; in a unity build they are compiled
# as one. Includes are written from engine/.
function(leadline_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  if(arg_SOURCES)
    file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  endif()
  list(FILTER sources EXCLUDE REGEX "/\\.[^/]*$") # hidden files; the sources themselves may lie in a hidden folder, as those of EasyBuild do
  if(sources)
    add_library(leadline_${name} STATIC ${sources})
    set_property(GLOBAL APPEND PROPERTY leadline_layers leadline_${name})
    target_include_directories(leadline_${name} PUBLIC "${PROJECT_SOURCE_DIR}/engine")
    target_link_libraries(leadline_${name} PUBLIC ${arg_USES})
    set_target_properties(leadline_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    if(LEADLINE_SANITIZE STREQUAL "address" AND name IN_LIST leadline_layers_that_compute)
      target_compile_options(leadline_${name} PRIVATE -O2)
      target_precompile_headers(leadline_${name} REUSE_FROM leadline_precompiled_O2)
    else()
      target_precompile_headers(leadline_${name} REUSE_FROM leadline_precompiled)
    endif()
    if(LEADLINE_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND (name IN_LIST leadline_layers_of_readers OR name MATCHES "^bench_"))
      target_compile_options(leadline_${name} PRIVATE -fsanitize-coverage=${LEADLINE_FUZZ_COVERAGE})
    endif()
    if(CMAKE_BUILD_TYPE MATCHES "Rel" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # clang wants the level of the compiled headers
      foreach(level O1 Og)
        if(name IN_LIST leadline_layers_at_${level} OR (level STREQUAL "Og" AND name MATCHES "^bench_" AND NOT name IN_LIST leadline_layers_at_O1))
          target_compile_options(leadline_${name} PRIVATE -${level})
          set_target_properties(leadline_${name} PROPERTIES PCH_WARN_INVALID OFF) # GCC 14 compiles them without: another level
        endif()
      endforeach()
    endif()
  else()
    add_library(leadline_${name} INTERFACE)
    target_include_directories(leadline_${name} INTERFACE "${PROJECT_SOURCE_DIR}/engine")
    target_link_libraries(leadline_${name} INTERFACE ${arg_USES})
  endif()
endfunction()

# leadline_benchmark(SUMMARY): the folder is the layer of a benchmark, whose command has its name; SUMMARY is for its manual page.
function(leadline_benchmark summary)
  get_filename_component(name "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  leadline_layer(bench_${name} USES leadline_command)
  set_property(GLOBAL APPEND PROPERTY leadline_benchmarks leadline_bench_${name})
  set_target_properties(leadline_bench_${name} PROPERTIES leadline_command "${name}" leadline_summary "${summary}")
endfunction()

# leadline_transport(NAME [NAMESPACE namespace] SOURCES file... [USES library...]): a transport that is part of the program, with the constant `module` in
# the namespace, NAME where none is given.
function(leadline_transport name)
  cmake_parse_arguments(arg "" "NAMESPACE" "SOURCES;USES" ${ARGN})
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE ${name})
  endif()
  add_library(leadline_transport_${name} STATIC ${arg_SOURCES})
  set_target_properties(leadline_transport_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0 leadline_namespace "${arg_NAMESPACE}")
  target_link_libraries(leadline_transport_${name} PRIVATE leadline_transport ${arg_USES})
  target_precompile_headers(leadline_transport_${name} REUSE_FROM leadline_precompiled)
  set_property(GLOBAL APPEND PROPERTY leadline_transports ${name})
endfunction()

# leadline_transport_not_built(NAME REASON): what people are told instead.
function(leadline_transport_not_built name reason)
  message(STATUS "The transport ${name} is not built: ${reason}")
  set_property(GLOBAL APPEND PROPERTY leadline_transports_not_built "    {\"${name}\", nullptr, \"${reason}\"},")
endfunction()

# leadline_transport_file(NAME SOURCES file... [USES library...]): the same as NAME.so, which is no part of the program. A folder outside may call it.
function(leadline_transport_file name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  set(target leadline_transport_file_${name})
  configure_file("${PROJECT_SOURCE_DIR}/cmake/leadline_transport_file.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp" @ONLY)
  add_library(${target} MODULE ${arg_SOURCES} "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
  target_link_libraries(${target} PRIVATE leadline_transport ${arg_USES})
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden UNITY_BUILD_BATCH_SIZE 0
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/transports")
endfunction()

# leadline_test_program(TARGET): how programs of GoogleTest tests are compiled: all sources of one together, over headers that are compiled once.
function(leadline_test_program target)
  # What is tested is optimised; the tests themselves would take the compiler two thirds longer.
  target_compile_options(${target} PRIVATE -O0 -fPIE) # the same for programs and parts of them, as compiled headers ask for
  target_precompile_headers(${target} REUSE_FROM leadline_test_headers)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF UNITY_BUILD_BATCH_SIZE 0
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
endfunction()

# leadline_test(NAME [PROCESSORS n] [SECONDS n] SOURCES file... [MORE_WITHOUT_SANITIZERS file...] [USES library...]): a GoogleTest program, run as one CTest test,
# unit.NAME; what became of each of its tests is written to tests/results/unit.NAME.xml in the build folder, which tests/summary.py reads. With
# LEADLINE_ALL_TESTS=OFF it is made of those files that do more without sanitizers; without any it is left out, here and from the target `all`. Those that
# take most seconds begin first; none said: 1.
function(leadline_test name)
  cmake_parse_arguments(arg "" "PROCESSORS;SECONDS" "SOURCES;MORE_WITHOUT_SANITIZERS;USES" ${ARGN})
  if(arg_MORE_WITHOUT_SANITIZERS AND NOT LEADLINE_ALL_TESTS)
    set(arg_SOURCES)
  endif()
  add_executable(${name}_test ${arg_SOURCES} ${arg_MORE_WITHOUT_SANITIZERS})
  target_link_libraries(${name}_test PRIVATE GTest::gtest_main GTest::gmock ${arg_USES})
  leadline_test_program(${name}_test)
  if(NOT LEADLINE_ALL_TESTS AND NOT arg_MORE_WITHOUT_SANITIZERS)
    set_target_properties(${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  add_test(NAME unit.${name} COMMAND ${name}_test)
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 600 LABELS unit PROCESSORS ${arg_PROCESSORS}
    ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/tests/results/unit.${name}.xml")
  if(arg_SECONDS)
    set_tests_properties(unit.${name} PROPERTIES COST ${arg_SECONDS})
  endif()
endfunction()
