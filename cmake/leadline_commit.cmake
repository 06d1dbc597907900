# SPDX-License-Identifier: Apache-2.0
# Which commit is built.

# leadline_commit(RESULT): what git says of this checkout, whoever owns it; empty where it is none, even if it lies in another. CMake runs again
# whenever its head moves.
function(leadline_commit result)
  set(${result} "" PARENT_SCOPE)
  find_package(Git QUIET)
  if(NOT Git_FOUND OR NOT EXISTS "${PROJECT_SOURCE_DIR}/.git")
    return()
  endif()
  set(git "${GIT_EXECUTABLE}" --git-dir=.git --work-tree=.)
  execute_process(COMMAND ${git} describe --always --dirty WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} rev-parse --git-path logs/HEAD WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR "${PROJECT_SOURCE_DIR}")
  if(EXISTS "${log}" AND NOT IS_DIRECTORY "${log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${log}")
  endif()
  set(${result} "${commit}" PARENT_SCOPE)
endfunction()
