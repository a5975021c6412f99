// SPDX-License-Identifier: Apache-2.0
//
// The version of the library; the number itself stands in the CMake project.
#include "opwright/c_api.h"

const char* opwright_version(void) { return OPWRIGHT_VERSION; }
