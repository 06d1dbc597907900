# SPDX-License-Identifier: Apache-2.0
# The module portals4 once more, over a fake library with small limits: its protocol is tested on every machine.
add_library(portals4_fake MODULE)
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/engine/transport/portals4/*.cpp"
  "${PROJECT_SOURCE_DIR}/tests/support/portals4/*.cpp")
target_sources(portals4_fake PRIVATE ${sources})
target_include_directories(portals4_fake BEFORE PRIVATE "${PROJECT_SOURCE_DIR}/tests/support/portals4")
target_link_libraries(portals4_fake PRIVATE leadline_transport leadline_kernel leadline_cluster)
target_link_options(portals4_fake PRIVATE -Wl,-z,nodelete) # as in leadline_module()
set(portals4_folder "${CMAKE_BINARY_DIR}/tests/fake_portals4")
set_target_properties(portals4_fake PROPERTIES PREFIX "" OUTPUT_NAME leadline_transport_portals4
  CXX_VISIBILITY_PRESET hidden LIBRARY_OUTPUT_DIRECTORY "${portals4_folder}")

if(TARGET contract_portals4)
  add_dependencies(contract_portals4 portals4_fake)
else()
  leadline_contract(portals4 MODULES portals4_fake)
  target_link_libraries(contract_portals4 PRIVATE GTest::gtest_main)
endif()
add_test(NAME contract.portals4_fake COMMAND contract_portals4)
set_tests_properties(contract.portals4_fake PROPERTIES LABELS contract TIMEOUT 240 PROCESSORS 2
  ENVIRONMENT "LEADLINE_MODULE_PATH=${portals4_folder}")
