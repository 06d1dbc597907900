# SPDX-License-Identifier: Apache-2.0
# clang-tidy over all sources of the engine and its programs: the target `tidy`, which is part of `all`.
find_program(LEADLINE_CLANG_TIDY NAMES clang-tidy-14 clang-tidy REQUIRED)
file(GLOB_RECURSE tidied CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/engine/*.[ch]pp" "${PROJECT_SOURCE_DIR}/apps/*.cpp")
file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/apps/*.cpp")
add_custom_target(tidy ALL)

# leadline_tidy(NAME [TARGETS target...] [SOURCES file...]): looks at all sources of these targets as one, and at each of these files. By itself each
# target would read the same headers again, which takes longer than its own lines.
function(leadline_tidy name)
  cmake_parse_arguments(arg "" "" "TARGETS;SOURCES" ${ARGN})
  set(text "#include \"${PROJECT_SOURCE_DIR}/cmake/leadline_precompiled.hpp\"\n")
  set(folders)
  set(definitions)
  foreach(target IN LISTS arg_TARGETS)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    list(APPEND folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    list(APPEND definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  endforeach()
  set(joined "${CMAKE_BINARY_DIR}/tidy/${name}.cpp")
  file(GENERATE OUTPUT "${joined}" CONTENT "${text}")
  set(folders "$<REMOVE_DUPLICATES:${folders}>")
  set(definitions "$<REMOVE_DUPLICATES:${definitions}>")
  add_custom_command(OUTPUT "${joined}.done" VERBATIM COMMAND_EXPAND_LISTS
    COMMAND "${LEADLINE_CLANG_TIDY}" --quiet "--warnings-as-errors=*" "--config-file=${PROJECT_SOURCE_DIR}/.clang-tidy"
            "${joined}" ${arg_SOURCES} -- "-std=c++${CMAKE_CXX_STANDARD}"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "$<$<BOOL:${folders}>:-I$<JOIN:${folders},;-I>>"
    COMMAND "${CMAKE_COMMAND}" -E touch "${joined}.done"
    DEPENDS "${joined}" "${PROJECT_SOURCE_DIR}/.clang-tidy" ${tidied}
    COMMENT "Looking at ${name} with clang-tidy")
  add_custom_target(tidy_${name} DEPENDS "${joined}.done")
  add_dependencies(tidy tidy_${name})
endfunction()

get_property(layers GLOBAL PROPERTY leadline_layers)
leadline_tidy(layers TARGETS ${layers} SOURCES ${programs})

# Some headers of libraries take names from others, and two ABIs of MPI have the same.
get_property(transports GLOBAL PROPERTY leadline_transports)
list(FILTER transports EXCLUDE REGEX "^mpi_")
list(TRANSFORM transports PREPEND leadline_transport_)
leadline_tidy(transports TARGETS ${transports})
foreach(flavour IN LISTS leadline_mpi_flavours)
  if(NOT flavour STREQUAL "abi") # the same sources once more
    leadline_tidy(${flavour} TARGETS leadline_mpi_${flavour} leadline_transport_mpi_${flavour} leadline_storage_mpi_io_${flavour})
  endif()
endforeach()
