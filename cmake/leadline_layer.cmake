# SPDX-License-Identifier: Apache-2.0
# The kinds of target: a layer (one folder of engine/), a module that is opened at run time, a test program.

# What nearly every source includes is compiled once, by a target of its own; all others reuse it.
file(WRITE "${CMAKE_BINARY_DIR}/precompiled.cpp" "")
function(leadline_precompile target)
  add_library(${target} OBJECT "${CMAKE_BINARY_DIR}/precompiled.cpp")
  target_link_libraries(${target} PRIVATE fmt::fmt)
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} PRIVATE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/leadline_precompiled.hpp")
endfunction()
leadline_precompile(leadline_precompiled)
set(leadline_headers_of_modules leadline_precompiled)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # which wants the visibility that the header was compiled with
  set(leadline_headers_of_modules leadline_precompiled_hidden)
  leadline_precompile(leadline_precompiled_hidden)
  set_target_properties(leadline_precompiled_hidden PROPERTIES CXX_VISIBILITY_PRESET hidden)
endif()

# Layers that tests compute with for longer than it takes to optimise them, measured under the sanitizers: a quarter of the time instead of all of it.
set(leadline_layers_that_compute core diagnosis memory schedule stats synthetic)
if(LEADLINE_SANITIZE STREQUAL "address")
  leadline_precompile(leadline_precompiled_O2 -O2) # clang wants the level that the header was compiled with
endif()

# Layers that read what comes from outside: the fuzzers are told which of their functions an input reaches.
set(LEADLINE_FUZZ_COVERAGE "func,inline-8bit-counters,pc-table" CACHE STRING
  "what fuzzers are told of the layers that read (for a long search: edge,inline-8bit-counters,pc-table,trace-cmp, a sixth longer to compile)")
set(leadline_layers_of_readers cluster core memory network options result schedule synthetic)

# Layers through which no timed loop runs and that compute little: quick to compile is what counts there.
set(leadline_layers_at_O1 bench_link core model network result synthetic)
set(leadline_layers_at_Og bench cli cluster command compat options output)

# leadline_layer(NAME [SOURCES pattern...] [USES library...]): all sources of this folder, or those of the patterns; in a unity build they are compiled
# as one. Includes are written from engine/.
function(leadline_layer name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  if(arg_SOURCES)
    file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  else()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  endif()
  list(FILTER sources EXCLUDE REGEX "/\\.")
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
    if(CMAKE_BUILD_TYPE MATCHES "Rel")
      foreach(level O1 Og)
        if(name IN_LIST leadline_layers_at_${level} OR (level STREQUAL "Og" AND name MATCHES "^bench_" AND NOT name IN_LIST leadline_layers_at_O1))
          target_compile_options(leadline_${name} PRIVATE -${level})
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

# leadline_module(TARGET SOURCES file... [USES library...]): TARGET.so, found beside the program.
function(leadline_module target)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_library(${target} MODULE ${arg_SOURCES})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  target_link_libraries(${target} PRIVATE ${arg_USES})
  target_precompile_headers(${target} REUSE_FROM ${leadline_headers_of_modules})
  # Vendors' libraries do not bear being unloaded, so a module stays in the process to its end.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete)
  set_target_properties(${target} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden DEFINE_SYMBOL ""
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${LEADLINE_MODULE_DIR}")
  install(TARGETS ${target} DESTINATION "${LEADLINE_MODULE_DIR}")
  set_property(GLOBAL APPEND PROPERTY leadline_modules ${target})
endfunction()

# leadline_transport(NAME SOURCES file... [USES library...]): leadline_transport_NAME.so.
function(leadline_transport name)
  leadline_module(leadline_transport_${name} ${ARGN})
  target_link_libraries(leadline_transport_${name} PRIVATE leadline_kernel leadline_cluster)
endfunction()

# leadline_storage_module(NAME SOURCES file... [USES library...]): leadline_storage_NAME.so.
function(leadline_storage_module name)
  leadline_module(leadline_storage_${name} ${ARGN})
  target_link_libraries(leadline_storage_${name} PRIVATE leadline_storage)
endfunction()

# leadline_bootstrap(NAME SOURCES file... [USES library...]): leadline_bootstrap_NAME.so.
function(leadline_bootstrap name)
  leadline_module(leadline_bootstrap_${name} ${ARGN})
  target_link_libraries(leadline_bootstrap_${name} PRIVATE leadline_cluster)
  set_target_properties(leadline_bootstrap_${name} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
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
