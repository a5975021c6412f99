// SPDX-License-Identifier: Apache-2.0
//
// The call that nothing stands in the way of: dense tensors of one shape, apart in memory, of a
// column's exact dtypes. A few elements are computed in less time than the general way needs to see
// that.
#pragma once

#include "runtime/launch.h"

namespace opwright {

// The column of such a call, for which the kernel may have the caller's tensors as they are. -1:
// the general way decides, and finds the words for what is wrong.
int32_t PlainColumn(const Launch& launch);

}  // namespace opwright
