// SPDX-License-Identifier: Apache-2.0
#include "check/gradient_due.h"

#include <algorithm>

#include "base/dtype.h"
#include "check/cases.h"
#include "registry/library.h"
#include "runtime/signature.h"

namespace opwright::check {

std::vector<RowName> RowsOf(const OpwrightOpDef& def) {
  std::vector<RowName> rows;
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    const bool dynamic = def.inputs[i]->kind == kOpwrightDynamic;
    for (int64_t k = 0; k < (dynamic ? kMostDynamic : 1); ++k)
      rows.push_back({i, k, ItemName(*def.inputs[i], static_cast<size_t>(k))});
  }
  return rows;
}

bool GivesGradient(const OpwrightGradient& gradient, int32_t input) {
  return std::find(gradient.outputs, gradient.outputs + gradient.num_outputs, input) !=
         gradient.outputs + gradient.num_outputs;
}

bool HasGradientColumn(Operator& op, int32_t column) {
  const OpwrightGradient& gradient = *op.gradient();
  std::vector<OpwrightTensor> tensors(static_cast<size_t>(gradient.num_inputs));
  std::vector<OpwrightArgument> arguments;
  for (int32_t i = 0; i < gradient.num_inputs; ++i) {
    const OpwrightRole role = gradient.inputs[i];
    const OpwrightParamDef* const* params =
        role.kind == kOpwrightRoleInput ? op.def().inputs : op.def().outputs;
    tensors[static_cast<size_t>(i)].dtype = params[role.index]->dtypes[column];
    arguments.push_back({&tensors[static_cast<size_t>(i)], 1});
  }
  return SelectGradientColumn(op.backward()->def(), gradient.inputs, arguments.data()).ok();
}

int32_t WidestColumn(Operator& op, bool gradient) {
  const OpwrightOpDef& def = op.def();
  int32_t best = -1;
  int best_width = -1;
  for (int32_t c = 0; c < def.num_columns; ++c) {
    if (gradient && !HasGradientColumn(op, c)) continue;
    int width = 0;
    for (int32_t i = 0; i < def.num_inputs; ++i)
      if (IsFloat(def.inputs[i]->dtypes[c])) width += FloatWidth(def.inputs[i]->dtypes[c]);
    for (int32_t i = 0; i < def.num_outputs; ++i)
      if (IsFloat(def.outputs[i]->dtypes[c])) width += FloatWidth(def.outputs[i]->dtypes[c]);
    if (width > best_width) {
      best = c;
      best_width = width;
    }
  }
  return best;
}

}  // namespace opwright::check
