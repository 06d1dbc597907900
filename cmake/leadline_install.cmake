# SPDX-License-Identifier: Apache-2.0
# What is installed beside programs and their manual pages: completions, documents, an environment module file; and the target uninstall.

# Completions of all commands, by the program itself: from a second name of it beside the commands of the analysis, and nothing of this machine's path.
if(NOT CMAKE_CROSSCOMPILING)
  get_property(commands GLOBAL PROPERTY leadline_analysis_commands)
  get_property(sources GLOBAL PROPERTY leadline_analysis_sources)
  set(beside "${CMAKE_BINARY_DIR}/beside/bin")
  list(TRANSFORM commands PREPEND "${beside}/")
  set(file_of_bash bash-completion/completions/leadline)
  set(file_of_zsh zsh/site-functions/_leadline)
  set(file_of_fish fish/vendor_completions.d/leadline.fish)
  set(scripts)
  set(lines)
  foreach(shell bash zsh fish)
    set(script "${CMAKE_BINARY_DIR}/share/${file_of_${shell}}")
    get_filename_component(folder "${file_of_${shell}}" DIRECTORY)
    file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/share/${folder}")
    list(APPEND scripts "${script}")
    list(APPEND lines COMMAND ${CMAKE_COMMAND} -E env PATH= "PYTHONPATH=${PROJECT_SOURCE_DIR}/analysis" PYTHONDONTWRITEBYTECODE=1
      "${beside}/leadline" completion ${shell} --output "${script}" --overwrite)
    install(FILES "${script}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" OPTIONAL)
  endforeach()
  file(MAKE_DIRECTORY "${beside}")
  add_custom_command(OUTPUT ${scripts} DEPENDS leadline ${commands} ${sources} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E rm -f "${beside}/leadline"
    COMMAND ${CMAKE_COMMAND} -E create_hardlink "$<TARGET_FILE:leadline>" "${beside}/leadline"
    ${lines})
  add_custom_target(completions ALL DEPENDS ${scripts})
endif()

if(SKBUILD) # a wheel has the licence elsewhere, and is no tree of modules
  return()
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(LEADLINE_DOCUMENTS) # laid out as in the sources, so that links between them lead somewhere
  install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
  install(DIRECTORY docs examples integrations DESTINATION "${CMAKE_INSTALL_DOCDIR}" USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
endif()

# For Lmod and Environment Modules. It finds the installation that it is part of; copied elsewhere, it leads to where that was installed.
install(CODE "set(configured \"${CMAKE_BINARY_DIR}/modulefile/${PROJECT_VERSION}\")
  set(folder \"${CMAKE_INSTALL_DATADIR}/modulefiles/leadline\")
  set(LEADLINE_VERSION \"${PROJECT_VERSION}\")
  set(LEADLINE_BIN \"${CMAKE_INSTALL_BINDIR}\")
  set(LEADLINE_MAN \"${CMAKE_INSTALL_MANDIR}\")
  set(LEADLINE_DATA \"${CMAKE_INSTALL_DATADIR}\")
  set(template \"${PROJECT_SOURCE_DIR}/packaging/modulefile.in\")")
install(CODE [[
  configure_file("${template}" "${configured}" @ONLY)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  file(INSTALL "${configured}" DESTINATION "${folder}")
]])

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMENT "Removing what was installed" VERBATIM
    COMMAND ${CMAKE_COMMAND} "-DLEADLINE_BUILD=${CMAKE_BINARY_DIR}" -P "${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake")
endif()
