# SPDX-License-Identifier: Apache-2.0
#
# The Python package: put together in the build tree, where PYTHONPATH=build/<preset> makes it importable,
# and installed with the same layout (cmake/Layout.cmake).
include(CMakePackageConfigHelpers)

# Headers and Python files are links, so that an edit needs no build.
file(MAKE_DIRECTORY ${OPWRIGHT_LIB_DIR})
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include ${OPWRIGHT_OUTPUT_DIR}/include SYMBOLIC)
file(CREATE_LINK opwright ${OPWRIGHT_LIB_DIR}/aoc SYMBOLIC)
if(OPWRIGHT_PYTHON)
  file(GLOB old RELATIVE ${OPWRIGHT_OUTPUT_DIR} ${OPWRIGHT_OUTPUT_DIR}/*)
  foreach(name IN LISTS old)
    # A link to a file that is gone: EXISTS follows it.
    if(IS_SYMLINK ${OPWRIGHT_OUTPUT_DIR}/${name} AND NOT EXISTS ${OPWRIGHT_OUTPUT_DIR}/${name})
      file(REMOVE ${OPWRIGHT_OUTPUT_DIR}/${name})
    endif()
  endforeach()
  file(
    GLOB names
    RELATIVE ${PROJECT_SOURCE_DIR}/python/opwright
    CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/python/opwright/*
  )
  list(REMOVE_ITEM names __pycache__)
  foreach(name IN LISTS names)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/opwright/${name} ${OPWRIGHT_OUTPUT_DIR}/${name} SYMBOLIC)
  endforeach()
endif()

# A copy, not a link: the file finds the package from where it lies.
configure_file(cmake/OpwrightConfig.cmake ${OPWRIGHT_OUTPUT_DIR}/cmake/OpwrightConfig.cmake COPYONLY)
write_basic_package_version_file(
  ${OPWRIGHT_OUTPUT_DIR}/cmake/OpwrightConfigVersion.cmake
  COMPATIBILITY SameMinorVersion
)

# scikit-build-core copies python/opwright itself.
install(TARGETS opwright LIBRARY DESTINATION ${OPWRIGHT_PACKAGE_DIR}/_lib)
install(TARGETS opwright_cli RUNTIME DESTINATION ${OPWRIGHT_PACKAGE_DIR}/_lib)
# A wheel holds no links: aoc is a second copy of the command line.
install(PROGRAMS $<TARGET_FILE:opwright_cli> DESTINATION ${OPWRIGHT_PACKAGE_DIR}/_lib RENAME aoc)
if(TARGET opwright_entries)
  install(TARGETS opwright_entries ARCHIVE DESTINATION ${OPWRIGHT_PACKAGE_DIR}/_lib)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${OPWRIGHT_PACKAGE_DIR}/include)
install(DIRECTORY ${OPWRIGHT_OUTPUT_DIR}/cmake/ DESTINATION ${OPWRIGHT_PACKAGE_DIR}/cmake)
if(OPWRIGHT_PYTHON)
  install(TARGETS opwright_python LIBRARY DESTINATION ${OPWRIGHT_PACKAGE_DIR})
  install(TARGETS opwright_mindspore LIBRARY DESTINATION ${OPWRIGHT_PACKAGE_DIR}/_lib)
endif()
