# SPDX-License-Identifier: Apache-2.0
# The ABIs of MPI whose header is there: leadline_mpi_flavours (openmpi, mpich, abi). Any header of an ABI will do, since the library is that of
# the launcher, opened at run time; none is linked. That of the standard ABI is part of the sources.
include_guard(GLOBAL)
include(CheckCXXSourceCompiles)

# leadline_add_mpi(ORIGIN FOLDER...): the header in these folders, unless there is one of its ABI already.
function(leadline_add_mpi origin)
  set(CMAKE_REQUIRED_INCLUDES ${ARGN})
  set(CMAKE_REQUIRED_DEFINITIONS -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX) # the C++ bindings of old, which need a library
  string(MAKE_C_IDENTIFIER "LEADLINE_MPI_IS_OPENMPI_${origin}" is_openmpi)
  string(MAKE_C_IDENTIFIER "LEADLINE_MPI_IS_MPICH_${origin}" is_mpich)
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef OPEN_MPI\n#error another\n#endif\nint main() {}" ${is_openmpi})
  check_cxx_source_compiles("#include <mpi.h>\n#ifndef MPICH_VERSION\n#error another\n#endif\nint main() {}" ${is_mpich})
  if(${is_openmpi})
    set(flavour openmpi)
  elseif(${is_mpich}) # so do MVAPICH and Intel MPI
    set(flavour mpich)
  else()
    message(STATUS "MPI of ${origin}: its mpi.h is neither Open MPI's nor MPICH's, or cannot be compiled")
    return()
  endif()
  if(flavour IN_LIST leadline_mpi_flavours)
    return()
  endif()
  message(STATUS "MPI ${flavour}: mpi.h of ${origin}")
  set(leadline_mpi_flavours ${leadline_mpi_flavours} ${flavour} PARENT_SCOPE)
  set(leadline_mpi_includes_${flavour} ${ARGN} PARENT_SCOPE)
endfunction()

set(leadline_mpi_flavours)
# Debian's two, side by side, and whatever the user's is.
foreach(wrapper mpicc.openmpi mpicc.mpich mpicc)
  find_program(LEADLINE_${wrapper} ${wrapper})
  mark_as_advanced(LEADLINE_${wrapper})
  if(NOT LEADLINE_${wrapper})
    continue()
  endif()
  execute_process(COMMAND "${LEADLINE_${wrapper}}" -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(STATUS "MPI of ${LEADLINE_${wrapper}}: it does not know -show")
    continue()
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  list(FILTER words INCLUDE REGEX "^-I.")
  list(TRANSFORM words REPLACE "^-I" "")
  leadline_add_mpi("${LEADLINE_${wrapper}}" ${words})
endforeach()
if(NOT leadline_mpi_flavours) # a compiler that knows MPI without a wrapper, or one in a place that CMake knows
  find_package(MPI COMPONENTS C)
  if(MPI_C_FOUND)
    leadline_add_mpi("CMake's find_package(MPI)" ${MPI_C_INCLUDE_DIRS})
  endif()
endif()
list(APPEND leadline_mpi_flavours abi)
set(leadline_mpi_includes_abi "${PROJECT_SOURCE_DIR}/engine/mpi/abi/standard")
foreach(flavour openmpi mpich)
  if(NOT flavour IN_LIST leadline_mpi_flavours)
    message(STATUS "MPI ${flavour}: no header; mpi is built without this ABI")
  endif()
endforeach()

set(leadline_mpi_abi_openmpi open_mpi) # mpi::Abi, and the namespace
set(leadline_mpi_abi_mpich mpich)
set(leadline_mpi_abi_abi standard)
set(leadline_mpi_definitions_openmpi LEADLINE_MPI_ABI=open_mpi OMPI_SKIP_MPICXX)
set(leadline_mpi_definitions_mpich LEADLINE_MPI_ABI=mpich MPICH_SKIP_MPICXX)
set(leadline_mpi_definitions_abi LEADLINE_MPI_ABI=standard LEADLINE_MPI_STANDARD_ABI)
