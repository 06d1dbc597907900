# SPDX-License-Identifier: Apache-2.0
# The transport portals4 once more, in a file, over a fake library with small limits: its protocol is tested on every machine, and so are transports in files.
set(portals4_folder "${CMAKE_BINARY_DIR}/tests/fake_portals4")
set(fake_sources "${PROJECT_SOURCE_DIR}/tests/support/portals4")
file(GLOB sources CONFIGURE_DEPENDS "${fake_sources}/*.cpp")
add_library(portals4_fake_library SHARED ${sources})
target_include_directories(portals4_fake_library PRIVATE "${fake_sources}" "${PROJECT_SOURCE_DIR}/engine")
target_link_libraries(portals4_fake_library PRIVATE leadline_core)
set_target_properties(portals4_fake_library PROPERTIES OUTPUT_NAME portals LIBRARY_OUTPUT_DIRECTORY "${portals4_folder}")

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/engine/transport/portals4/*.cpp")
leadline_transport_file(portals4 SOURCES ${sources})
target_include_directories(leadline_transport_file_portals4 BEFORE PRIVATE "${fake_sources}")
target_compile_definitions(leadline_transport_file_portals4 PRIVATE "LEADLINE_PORTALS4_LIBRARY=\"$<TARGET_FILE:portals4_fake_library>\"")
add_dependencies(leadline_transport_file_portals4 portals4_fake_library)
set_target_properties(leadline_transport_file_portals4 PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${portals4_folder}")

if(TARGET contract_portals4)
  add_dependencies(contract_portals4 leadline_transport_file_portals4)
else()
  leadline_contract(portals4 MODULES leadline_transport_file_portals4)
  target_link_libraries(contract_portals4 PRIVATE GTest::gtest_main)
endif()
add_test(NAME contract.portals4_fake COMMAND contract_portals4)
set_tests_properties(contract.portals4_fake PROPERTIES LABELS contract TIMEOUT 240 PROCESSORS 2
  ENVIRONMENT "LEADLINE_PORTALS4_TRANSPORT=$<TARGET_FILE:leadline_transport_file_portals4>")
