# SPDX-License-Identifier: Apache-2.0
#
# Where things lie, the same in the build tree and inside the Python package, so that the command line
# and the core find headers and the entry archive relative to libopwright.so:
#   opwright/                   the Python package; the build tree has the same folder
#     _lib/libopwright.so, libopwright_entries.a, libopwright_mindspore.so, opwright (the command line),
#     aoc (a link to it)
#     include/                  public headers
#     cmake/                    OpwrightConfig.cmake
set(OPWRIGHT_PACKAGE_DIR opwright)
set(OPWRIGHT_OUTPUT_DIR ${PROJECT_BINARY_DIR}/opwright)
set(OPWRIGHT_LIB_DIR ${OPWRIGHT_OUTPUT_DIR}/_lib)
