// SPDX-License-Identifier: Apache-2.0
//
// Which calls an operator is tried with: shapes that its metadef allows, no two dimensions of one
// size where they may differ, broadcast in every way, empty, single and larger ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/array.h"
#include "check/attrs.h"
#include "opwright/c_api.h"

namespace opwright::check {

struct Case {
  std::vector<std::vector<Shape>> shapes;  // of each input's tensors; none for an absent one
  Values values = Values::kNormal;
  int32_t alone = -1;  // the attribute that alone has its second value; -1: by turns
  // These second values and no others.
  std::optional<SecondValues> fixed;
  // It may well be refused, which then says nothing.
  bool sought = false;
  // Of zeros, or of one element where the operator has cases of more: a gradient that is right here
  // is not right for that.
  bool slight = false;
  // One of its axes is long.
  bool long_axis = false;
  // Differences are those of a few elements: more would take long.
  bool samples_few = false;

  // Which values of attributes come first; -1: by the case's seed, 0: the first ones, 1: all second
  // ones.
  int32_t turn = -1;
  // Of shapes alone: what goes wrong with them does so in each dtype.
  bool first_column = false;

  // With values beyond the usual.
  bool is_probe() const;
  // Whether what cannot be compared counts as left out; what is found counts in each.
  bool counts_left_out() const { return !samples_few && !is_probe(); }
};

// Shapes that a shape rule or the kernel itself refuses may be among them.
std::vector<Case> MakeCases(const OpwrightOpDef& def);

// Tensors that a dynamic input has at most.
constexpr int64_t kMostDynamic = 6;

// "x", "xs[1]" of a dynamic one.
std::string ItemName(const OpwrightParamDef& param, size_t item);

// "(float32, int64)": the dtypes of the inputs.
std::string ColumnText(const OpwrightOpDef& def, int32_t column);

// "x[2, 3] float32, bias[3] float32; zeros"
std::string CaseText(const OpwrightOpDef& def, int32_t column, const Case& c);

}  // namespace opwright::check
