# SPDX-License-Identifier: Apache-2.0
# One suite for every storage backend. A backend joins with one file, storage_NAME_contract.cpp.
add_library(storage_contract OBJECT storage_contract.cpp storage_errors.cpp)
target_include_directories(storage_contract PUBLIC "${PROJECT_SOURCE_DIR}/tests")
target_link_libraries(storage_contract PUBLIC leadline_storage GTest::gtest GTest::gmock)
leadline_test_program(storage_contract)

# leadline_storage_contract(NAME): the program contract_storage_NAME.
function(leadline_storage_contract name)
  add_executable(contract_storage_${name} storage_${name}_contract.cpp)
  target_link_libraries(contract_storage_${name} PRIVATE storage_contract)
  leadline_test_program(contract_storage_${name})
endfunction()

leadline_storage_contract(posix)
target_link_libraries(contract_storage_posix PRIVATE GTest::gtest_main)
add_test(NAME contract.storage_posix COMMAND contract_storage_posix)
set_tests_properties(contract.storage_posix PROPERTIES LABELS contract TIMEOUT 240)

# MPI-IO: the same program under each library's own launcher, once for each implementation that the library has.
if("openmpi" IN_LIST leadline_mpi_flavours OR "mpich" IN_LIST leadline_mpi_flavours)
  leadline_storage_contract(mpi)
  target_link_libraries(contract_storage_mpi PRIVATE leadline_transports)
endif()

# leadline_mpi_io_contract(FLAVOUR BACKEND RANKS FILTER)
function(leadline_mpi_io_contract flavour backend num_ranks filter)
  string(REPLACE ":" "_" name "contract.storage_${backend}_${flavour}_${num_ranks}")
  leadline_mpi_session_folder(${name})
  add_test(NAME ${name} COMMAND ${LEADLINE_MPIRUN_${flavour}} ${mpirun_options_${flavour}} -n ${num_ranks}
    $<TARGET_FILE:contract_storage_mpi> ${backend} --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES LABELS contract TIMEOUT 240 PROCESSORS 2
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_orte_tmpdir_base=${session_folder}")
endfunction()

set(mpi_io_backends_openmpi mpi-io:ompio mpi-io:romio)
set(mpi_io_backends_mpich mpi-io)
foreach(flavour openmpi mpich)
  if(flavour IN_LIST leadline_mpi_flavours AND LEADLINE_MPIRUN_${flavour})
    foreach(backend IN LISTS mpi_io_backends_${flavour})
      leadline_mpi_io_contract(${flavour} ${backend} 2 "*")
      foreach(num_ranks 3 4)
        leadline_mpi_io_contract(${flavour} ${backend} ${num_ranks} "*Collective*:*MpiIo*")
      endforeach()
    endforeach()
  endif()
endforeach()
