# SPDX-License-Identifier: Apache-2.0
# The MPI libraries of this machine, each as a target leadline_mpi_<flavour> (openmpi, mpich); several side by side.
include_guard(GLOBAL) # transports and storage backends both ask for it

# leadline_mpi_from_wrapper(FLAVOUR WRAPPER): the target out of what the wrapper compiler says it would run.
function(leadline_mpi_from_wrapper flavour wrapper)
  execute_process(COMMAND "${wrapper}" -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(STATUS "MPI ${flavour}: ${wrapper} -show fails; no module for it")
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words) # the compiler
  add_library(leadline_mpi_${flavour} INTERFACE IMPORTED GLOBAL)
  set(folders)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      target_include_directories(leadline_mpi_${flavour} SYSTEM INTERFACE "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-L(.+)")
      list(APPEND folders "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-l(.+)")
      # By its full path, so that the module gets a run path to it.
      find_library(file NAMES "${CMAKE_MATCH_1}" PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
      target_link_libraries(leadline_mpi_${flavour} INTERFACE "$<IF:$<BOOL:${file}>,${file},${CMAKE_MATCH_1}>")
      unset(file)
    elseif(word MATCHES "^(-Wl,|-pthread)")
      target_link_options(leadline_mpi_${flavour} INTERFACE "${word}")
    endif()
  endforeach()
  message(STATUS "MPI ${flavour}: ${wrapper}")
endfunction()

# leadline_mpi_from_package(): the one MPI that CMake finds, under the flavour that its mpi.h names.
function(leadline_mpi_from_package)
  find_package(MPI COMPONENTS C)
  if(NOT MPI_C_FOUND)
    message(STATUS "MPI: none found; no module for it")
    return()
  endif()
  include(CheckCSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  check_c_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error another\n#endif\nint main(void) { return 0; }"
    LEADLINE_MPI_IS_OPENMPI)
  set(flavour mpich) # and what descends from it, which its launchers start the same way
  if(LEADLINE_MPI_IS_OPENMPI)
    set(flavour openmpi)
  endif()
  add_library(leadline_mpi_${flavour} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(leadline_mpi_${flavour} INTERFACE MPI::MPI_C)
  set(LEADLINE_MPIRUN_${flavour} "${MPIEXEC_EXECUTABLE}" CACHE FILEPATH "the launcher of this MPI, for the tests")
  message(STATUS "MPI ${flavour}: as CMake finds it")
endfunction()

foreach(flavour openmpi mpich)
  find_program(LEADLINE_MPICC_${flavour} mpicc.${flavour})
  mark_as_advanced(LEADLINE_MPICC_${flavour})
  if(LEADLINE_MPICC_${flavour})
    leadline_mpi_from_wrapper(${flavour} "${LEADLINE_MPICC_${flavour}}")
  endif()
endforeach()
if(NOT LEADLINE_MPICC_openmpi AND NOT LEADLINE_MPICC_mpich)
  leadline_mpi_from_package()
endif()
foreach(flavour openmpi mpich)
  if(NOT TARGET leadline_mpi_${flavour})
    message(STATUS "MPI ${flavour}: not found; the module mpi_${flavour} is not built")
  endif()
endforeach()
