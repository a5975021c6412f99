// SPDX-License-Identifier: Apache-2.0
//
// Which calls an operator is tried with: shapes that its metadef allows, no two dimensions of one
// size where they may differ, broadcast in every way, empty, single and larger ones.
#pragma once

#include <string>
#include <vector>

#include "check/array.h"
#include "opwright/c_api.h"

namespace opwright::check {

struct Case {
  std::string name;  // "distinct dimensions"
  std::vector<std::vector<Shape>> shapes;  // of each input's tensors; none for an absent one
  Values values = Values::kNormal;
  bool gradient = true;  // gradients are compared with differences
};

// Shapes that a shape rule or the kernel itself refuses may be among them.
std::vector<Case> MakeCases(const OpwrightOpDef& def);

// "x[2, 3] float32, bias[3] float32; zeros"
std::string CaseText(const OpwrightOpDef& def, int32_t column, const Case& c);

}  // namespace opwright::check
