// error: expects argument of type
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

opwright::Status Fail(int n) {
#ifdef MISUSE
  return opwright::Status::Error("%s rows", n);
#else
  return opwright::Status::Error("%d rows", n);
#endif
}
