// SPDX-License-Identifier: Apache-2.0
#include "runtime/signature.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"

namespace opwright {
namespace {

Status CheckCounts(const OpwrightOpDef& def, const OpwrightArgument* inputs, int32_t num_inputs) {
  if (num_inputs != def.num_inputs)
    return MakeError("CL001", StrCat(def.name, ": ", Count(num_inputs, "input"),
                                     " given, the metadef lists ", def.num_inputs));
  for (int32_t i = 0; i < num_inputs; ++i) {
    const int64_t count = inputs[i].count;
    const int32_t kind = def.inputs[i]->kind;
    if (count > 0 && inputs[i].tensors == nullptr)
      return MakeError("CL001", StrCat(def.name, ": input ", def.inputs[i]->name,
                                       " has no tensors behind its count of ", count));
    if (count == 1 || kind == kOpwrightDynamic) continue;
    if (count == 0 && kind == kOpwrightOptional) continue;
    return MakeError("CL001", StrCat(def.name, ": input ", def.inputs[i]->name,
                                     count == 0 ? " is required and was not given"
                                                : " takes one tensor and was given a list"));
  }
  return {};
}

// Whether every tensor of the call may go to the column, by fits(param, column's dtype, tensor's).
template <class Fits>
bool ColumnFits(const OpwrightOpDef& def, const OpwrightArgument* inputs, int32_t column,
                const Fits& fits) {
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (int64_t k = 0; k < inputs[i].count; ++k)
      if (!fits(i, def.inputs[i]->dtypes[column], inputs[i].tensors[k].dtype)) return false;
  return true;
}

bool FitsExactly(OpwrightDType column, OpwrightDType given) {
  return column == given || (IsWeak(given) && TakesWeak(column, given));
}

bool TakesFloat(const OpwrightOpDef& def, int32_t input) {
  const OpwrightDType* const dtypes = def.inputs[input]->dtypes;
  return std::any_of(dtypes, dtypes + def.num_columns, IsFloat);
}

// Whether the inputs that may be floats are given as floats of at least two dtypes.
bool IsMixed(const OpwrightOpDef& def, const OpwrightArgument* inputs) {
  OpwrightDType first = {};
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    if (!TakesFloat(def, i)) continue;
    for (int64_t k = 0; k < inputs[i].count; ++k) {
      const OpwrightDType dtype = inputs[i].tensors[k].dtype;
      if (FloatWidth(dtype) == 0 || IsWeak(dtype)) continue;
      if (first.lanes == 0) first = dtype;
      if (!(first == dtype)) return true;
    }
  }
  return false;
}

// "x float32, y int64"
std::string GivenText(const OpwrightOpDef& def, const OpwrightArgument* inputs) {
  std::string text;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (int64_t k = 0; k < inputs[i].count; ++k)
      text += StrCat(text.empty() ? "" : ", ", def.inputs[i]->name, " ",
                     DTypeName(inputs[i].tensors[k].dtype));
  return text;
}

std::string ColumnsText(const OpwrightOpDef& def) {
  std::string text;
  for (int32_t c = 0; c < def.num_columns; ++c) {
    text += c > 0 ? "; (" : "(";
    for (int32_t i = 0; i < def.num_inputs; ++i)
      text += StrCat(i > 0 ? ", " : "", DTypeName(def.inputs[i]->dtypes[c]));
    text += ')';
  }
  return text;
}

Error NoColumn(const OpwrightOpDef& def, const OpwrightArgument* inputs) {
  // One input whose dtype is in no column at all is the plainest thing to say.
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    for (int64_t k = 0; k < inputs[i].count; ++k) {
      const OpwrightDType given = inputs[i].tensors[k].dtype;
      const OpwrightDType* const dtypes = def.inputs[i]->dtypes;
      std::string listed;
      bool found = false;
      for (int32_t c = 0; c < def.num_columns; ++c) {
        found = found || FitsExactly(dtypes[c], given);
        const auto same = [&](OpwrightDType earlier) { return earlier == dtypes[c]; };
        if (std::none_of(dtypes, dtypes + c, same))
          listed += StrCat(c > 0 ? ", " : "", DTypeName(dtypes[c]));
      }
      if (!found)
        return MakeError("CL002", StrCat(def.name, ": dtype ", DTypeName(given), " of input ",
                                         def.inputs[i]->name, " not in metadef (", listed,
                                         "); convert it, or list the dtype"));
    }
  }
  return MakeError("CL002", StrCat(def.name, ": no dtype column for ", GivenText(def, inputs),
                                   "; the metadef has ", ColumnsText(def)));
}

}  // namespace

Expected<int32_t> SelectColumn(const OpwrightOpDef& def, const OpwrightArgument* inputs,
                               int32_t num_inputs) {
  OPWRIGHT_RETURN_IF_ERROR(CheckCounts(def, inputs, num_inputs));
  const auto exact = [](int32_t, OpwrightDType column, OpwrightDType given) {
    return FitsExactly(column, given);
  };
  for (int32_t c = 0; c < def.num_columns; ++c)
    if (ColumnFits(def, inputs, c, exact)) return c;

  if (!IsMixed(def, inputs)) return NoColumn(def, inputs);
  if (def.mixed_dtypes == kOpwrightMixedError)
    return MakeError(
        "CL003", StrCat(def.name, ": mixed float dtypes (", GivenText(def, inputs),
                        ") and the metadef says \"mixed_dtypes\": \"error\"; convert them to one"));
  const bool to_float32 = def.mixed_dtypes == kOpwrightMixedFloat32;
  const auto promoted = [&](int32_t, OpwrightDType column, OpwrightDType given) {
    if (IsWeak(given) || !IsFloat(given)) return FitsExactly(column, given);
    return to_float32 ? column == kFloat32 && FloatWidth(given) > 0 : HoldsFloat(column, given);
  };
  for (int32_t c = 0; c < def.num_columns; ++c)
    if (ColumnFits(def, inputs, c, promoted)) return c;
  return MakeError("CL003", StrCat(def.name, ": mixed float dtypes (", GivenText(def, inputs),
                                   ") and no column ",
                                   to_float32 ? "of float32" : "that holds them all without loss",
                                   "; the metadef has ", ColumnsText(def)));
}

Expected<int32_t> SelectGradientColumn(const OpwrightOpDef& backward, const OpwrightRole* roles,
                                       const OpwrightArgument* inputs) {
  OPWRIGHT_RETURN_IF_ERROR(CheckCounts(backward, inputs, backward.num_inputs));
  const auto width = [&](int32_t column) {
    int total = 0;
    for (int32_t i = 0; i < backward.num_inputs; ++i)
      if (roles[i].kind == kOpwrightRoleGrad)
        total += FloatWidth(backward.inputs[i]->dtypes[column]);
    return total;
  };
  // A gradient may be of any other float dtype.
  const auto saved_exact = [&](int32_t i, OpwrightDType column, OpwrightDType given) {
    return FitsExactly(column, given) ||
           (roles[i].kind == kOpwrightRoleGrad && IsFloat(column) && FloatWidth(given) > 0);
  };
  int32_t best = -1;
  for (int32_t c = 0; c < backward.num_columns; ++c)
    if (ColumnFits(backward, inputs, c, saved_exact) && (best < 0 || width(c) > width(best)))
      best = c;
  if (best >= 0) return best;
  const auto held = [](int32_t, OpwrightDType column, OpwrightDType given) {
    return FitsExactly(column, given) || HoldsFloat(column, given);
  };
  for (int32_t c = 0; c < backward.num_columns; ++c)
    if (ColumnFits(backward, inputs, c, held)) return c;
  return NoColumn(backward, inputs);
}

}  // namespace opwright
