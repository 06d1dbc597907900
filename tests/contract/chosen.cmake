# SPDX-License-Identifier: Apache-2.0
# The suite over a transport that is chosen when it is run, over the example of one in a file, and over a faulty one, which shows what it notices.
leadline_contract(chosen)
target_link_libraries(contract_chosen PRIVATE GTest::gtest)

add_subdirectory("${PROJECT_SOURCE_DIR}/examples/transport-in-a-file" transport-in-a-file)
add_test(NAME contract.local_sockets COMMAND contract_chosen "$<TARGET_FILE:leadline_transport_file_local_sockets>")
set_tests_properties(contract.local_sockets PROPERTIES LABELS contract TIMEOUT 240 PROCESSORS 2)

leadline_transport_file(faulty SOURCES faulty/faulty_transport.cpp)
target_include_directories(leadline_transport_file_faulty PRIVATE
  "${PROJECT_SOURCE_DIR}/tests" "${PROJECT_SOURCE_DIR}/examples/transport-in-a-file")
set_target_properties(leadline_transport_file_faulty PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests/faulty")

add_executable(contract_faults faults.cpp watch.cpp)
target_include_directories(contract_faults PRIVATE "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(contract_faults PRIVATE leadline_transports GTest::gtest_main GTest::gmock)
target_compile_definitions(contract_faults PRIVATE
  "CONTRACT_CHOSEN=\"$<TARGET_FILE:contract_chosen>\"" "GUIDE=\"${PROJECT_SOURCE_DIR}/docs/how-to/add-a-transport.md\""
  "FAULTY_TRANSPORT=\"$<TARGET_FILE:leadline_transport_file_faulty>\""
  "EXAMPLE_TRANSPORT=\"$<TARGET_FILE:leadline_transport_file_local_sockets>\"")
leadline_test_program(contract_faults)
add_dependencies(contract_faults contract_chosen leadline_transport_file_faulty leadline_transport_file_local_sockets)
add_test(NAME contract.faults COMMAND contract_faults) # most of it waits for calls that do not return
set_tests_properties(contract.faults PROPERTIES LABELS contract TIMEOUT 600 COST 100)
