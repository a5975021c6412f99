// SPDX-License-Identifier: Apache-2.0
//
// The call that nothing stands in the way of: dense tensors of a column's exact dtypes, apart in
// memory. A few elements are computed in less time than the general way needs to see that.
#pragma once

#include "runtime/arena.h"
#include "runtime/launch.h"
#include "runtime/plan.h"

namespace opwright {

// The plan of a call whose inputs the kernel may have as they are. False: MakePlan decides, and
// finds the words for what is wrong.
bool MakePlainPlan(const Launch& launch, Arena& arena, Plan* plan);

// Whether all outputs of such a call are there, and the kernel may write them where they are.
bool AreOutputsPlain(const Launch& launch, const Plan& plan);

}  // namespace opwright
