// error: assignment of read-only location
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

void Twice(opwright::View<const float> x, opwright::View<float> z) {
  z(0) = 2 * x(0);
#ifdef MISUSE
  x(0) = 0;
#endif
}
