/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

const LayoutRow layout_c[] = {LAYOUT_ROWS};
const size_t layout_c_size = sizeof layout_c / sizeof *layout_c;
