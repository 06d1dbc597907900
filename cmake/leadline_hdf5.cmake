# SPDX-License-Identifier: Apache-2.0
# The target leadline_hdf5: the static HDF5 library where that links with the compression libraries alone, otherwise the shared one.
find_package(HDF5 COMPONENTS C) # with QUIET, CMake 3.25 does not find a library that is only there as a static one
if(NOT HDF5_FOUND)
  message(FATAL_ERROR "The library HDF5 was not found, with its headers for C; any version from 1.10 on will do. Install libhdf5-dev (Debian, Ubuntu) or "
    "hdf5-devel (Fedora, EPEL), or load its module; or say where it is with -DHDF5_ROOT=FOLDER")
endif()
include(CheckCSourceCompiles)

add_library(leadline_hdf5 INTERFACE)
set(leadline_hdf5_linked hdf5::hdf5)

if(LEADLINE_STATIC_HDF5 AND NOT LEADLINE_SANITIZE) # a fuzzer tells the library's mistakes from ours by its file
  get_target_property(library hdf5::hdf5 LOCATION)
  if(library)
    get_filename_component(folder "${library}" DIRECTORY)
    # Only the one beside the library that was found is of the version of its headers.
    find_library(LEADLINE_HDF5_ARCHIVE NAMES libhdf5.a PATHS "${folder}" NO_DEFAULT_PATH)
    mark_as_advanced(LEADLINE_HDF5_ARCHIVE)
  endif()
  if(LEADLINE_HDF5_ARCHIVE)
    set(archives "${LEADLINE_HDF5_ARCHIVE}")
    foreach(name sz aec z) # in the order in which each needs the next
      find_library(LEADLINE_${name}_ARCHIVE NAMES lib${name}.a)
      mark_as_advanced(LEADLINE_${name}_ARCHIVE)
      if(LEADLINE_${name}_ARCHIVE)
        list(APPEND archives "${LEADLINE_${name}_ARCHIVE}")
      endif()
    endforeach()
    list(APPEND archives Threads::Threads ${CMAKE_DL_LIBS} m)
    get_target_property(CMAKE_REQUIRED_INCLUDES hdf5::hdf5 INTERFACE_INCLUDE_DIRECTORIES)
    set(CMAKE_REQUIRED_LIBRARIES ${archives})
    check_c_source_compiles("#include <hdf5.h>\nint main(void) { return H5open() < 0; }" LEADLINE_HDF5_ARCHIVE_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
  endif()
  if(LEADLINE_HDF5_ARCHIVE_LINKS)
    set(leadline_hdf5_linked ${archives})
    target_include_directories(leadline_hdf5 SYSTEM INTERFACE $<TARGET_PROPERTY:hdf5::hdf5,INTERFACE_INCLUDE_DIRECTORIES>)
  else()
    message(STATUS "HDF5 is linked as a shared library: no static one is beside it that links with zlib and libaec alone")
  endif()
endif()
target_link_libraries(leadline_hdf5 INTERFACE ${leadline_hdf5_linked})
