// error: ignoring returned value of type
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

opwright::Status Check(int64_t n) {
  if (n < 0) return opwright::Status::Error("%lld is negative", static_cast<long long>(n));
  return opwright::SUCCESS;
}

opwright::Status CheckBoth(int64_t a, int64_t b) {
#ifdef MISUSE
  Check(a);
#endif
  opwright::Status first = Check(a);
  return first.Ok() ? Check(b) : static_cast<opwright::Status&&>(first);
}
