# SPDX-License-Identifier: Apache-2.0
# The three kinds of target: a layer (one folder of engine/), a transport module, a test program.

# leadline_layer(NAME [USES library...]): all sources of this folder; includes are written from engine/.
function(leadline_layer name)
  cmake_parse_arguments(arg "" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/\\.")
  if(sources)
    add_library(leadline_${name} STATIC ${sources})
    target_include_directories(leadline_${name} PUBLIC "${PROJECT_SOURCE_DIR}/engine")
    target_link_libraries(leadline_${name} PUBLIC ${arg_USES})
  else()
    add_library(leadline_${name} INTERFACE)
    target_include_directories(leadline_${name} INTERFACE "${PROJECT_SOURCE_DIR}/engine")
    target_link_libraries(leadline_${name} INTERFACE ${arg_USES})
  endif()
endfunction()

# leadline_transport(NAME SOURCES file... [USES library...]): leadline_transport_NAME.so, found beside the program.
function(leadline_transport name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_library(leadline_transport_${name} MODULE ${arg_SOURCES})
  target_link_libraries(leadline_transport_${name} PRIVATE leadline_kernel leadline_cluster ${arg_USES})
  # Vendors' libraries do not bear being unloaded, so a module stays in the process to its end.
  target_link_options(leadline_transport_${name} PRIVATE -Wl,-z,nodelete)
  set_target_properties(leadline_transport_${name} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${LEADLINE_MODULE_DIR}")
  install(TARGETS leadline_transport_${name} DESTINATION "${LEADLINE_MODULE_DIR}")
  set_property(GLOBAL APPEND PROPERTY leadline_transport_modules leadline_transport_${name})
endfunction()

# leadline_test(NAME SOURCES file... [USES library...]): a GoogleTest program; each of its tests is a CTest test.
function(leadline_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE GTest::gtest_main GTest::gmock ${arg_USES})
  set_target_properties(${name}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  include(GoogleTest)
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 120 LABELS unit)
endfunction()
