# SPDX-License-Identifier: Apache-2.0
# Language level, warnings and sanitizers for every target of the project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # layers are linked into the program and into modules
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_C_STANDARD 11)
if(LEADLINE_WERROR)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
   OR (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, which is too old for C++20: GCC 11 or Clang 14 is needed. "
    "Name another with -DCMAKE_CXX_COMPILER=PROGRAM")
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow "$<$<COMPILE_LANGUAGE:CXX>:-Wconversion>")
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wreserved-identifier>")

# GCC spends a tenth of its time on collecting garbage. Where there are 4 GB for each core it begins at 1 GB; its peak is 0.4 GB higher then.
cmake_host_system_information(RESULT leadline_memory_mib QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT leadline_num_cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR leadline_needed_mib "4000 * ${leadline_num_cores}")
if(leadline_memory_mib GREATER leadline_needed_mib)
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")
endif()

if(LEADLINE_SANITIZE)
  set(leadline_sanitizers_of_address address,undefined)
  set(leadline_sanitizers_of_thread thread)
  set(sanitizers ${leadline_sanitizers_of_${LEADLINE_SANITIZE}})
  if(NOT sanitizers)
    message(FATAL_ERROR "LEADLINE_SANITIZE is ${LEADLINE_SANITIZE}, which is neither address nor thread nor empty")
  endif()
  add_compile_options(-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND LEADLINE_SANITIZE STREQUAL "address")
    # A null pointer ends the program anyway, nothing here is cast down, and the processors that we run on read from any address: these would take the
    # compiler a third longer.
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment)
  endif()
  add_link_options(-fsanitize=${sanitizers})
  add_compile_definitions(LEADLINE_SANITIZE) # compilers say it each in their own way
endif()
