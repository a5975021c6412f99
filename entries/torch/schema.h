// SPDX-License-Identifier: Apache-2.0
//
// An operator as a PyTorch schema: inputs in order, attributes by keyword, then what Opwright's own
// adapter passes: "_NAME_shape" for an output NAME whose shape only a gradient call knows, and
// "_wanted" where outputs are optional. The shapes of a list are one argument: of each tensor its
// rank, then its sizes.
#pragma once

#include <string>

#include "opwright/c_api.h"

namespace opwright::entries {

// "name(Tensor x, Tensor? bias=None, *, float eps=1e-05) -> Tensor"
std::string TorchSchema(const OpwrightOpDef& def, const std::string& name);

// Whether the schema has a "_NAME_shape" argument for the output.
bool TakesShape(const OpwrightOpDef& def, int32_t output);
// Whether None stands for the attribute's default, which no text of the schema language says.
bool TakesNone(const OpwrightAttrDef& attr);
// Whether every call has a tensor: an input is required and no list.
bool AlwaysTakesTensor(const OpwrightOpDef& def);
// Whether the schema has a "_wanted" argument.
bool TakesWanted(const OpwrightOpDef& def);

}  // namespace opwright::entries
