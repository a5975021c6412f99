# SPDX-License-Identifier: Apache-2.0
#
# find_package(Opwright), with -DCMAKE_PREFIX_PATH=$(opwright --cmake-dir):
#   Opwright::opwright                      libopwright.so and its headers, for C and C++ programs
#   Opwright::cli                           the command line
#   opwright_add_library(name folder ...)   a target that builds an operator library from an operator folder
get_filename_component(OPWRIGHT_PACKAGE_DIR "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)

if(NOT TARGET Opwright::opwright)
  add_library(Opwright::opwright SHARED IMPORTED)
  set_target_properties(
    Opwright::opwright
    PROPERTIES
      IMPORTED_LOCATION "${OPWRIGHT_PACKAGE_DIR}/_lib/libopwright.so"
      IMPORTED_SONAME libopwright.so
      INTERFACE_INCLUDE_DIRECTORIES "${OPWRIGHT_PACKAGE_DIR}/include"
  )
  add_executable(Opwright::cli IMPORTED)
  set_target_properties(Opwright::cli PROPERTIES IMPORTED_LOCATION "${OPWRIGHT_PACKAGE_DIR}/_lib/opwright")
endif()

# opwright_add_library(element_add operators/element_add --march=x86-64-v3): further arguments go to
# `opwright build`. The library is lib<name>.so in the current binary folder; the target's property
# OPWRIGHT_LIBRARY has its path. The command runs with every build and compiles only when a source, a
# header, a flag or the compiler has changed, so there is no list of dependencies to keep.
function(opwright_add_library name folder)
  get_filename_component(folder "${folder}" ABSOLUTE)
  set(library "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.so")
  add_custom_target(
    ${name}
    ALL
    COMMAND Opwright::cli build "${folder}" -o "${library}" ${ARGN}
    BYPRODUCTS "${library}"
    COMMENT "Building operator library lib${name}.so"
    VERBATIM
  )
  set_target_properties(${name} PROPERTIES OPWRIGHT_LIBRARY "${library}")
endfunction()
