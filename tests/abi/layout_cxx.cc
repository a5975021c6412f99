// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

const LayoutRow layout_cxx[] = {LAYOUT_ROWS};
const size_t layout_cxx_size = sizeof layout_cxx / sizeof *layout_cxx;
