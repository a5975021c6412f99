// SPDX-License-Identifier: Apache-2.0
//
// Python values as attribute values of the core.
#pragma once

#include <nanobind/nanobind.h>

#include "opwright/c_api.h"
#include "runtime/arena.h"

namespace opwright::python {

// Converts to the type that the metadef gives. Raises CL006 with what came and what was due.
OpwrightAttr AttrFromPython(const OpwrightOpDef& def, const OpwrightAttrDef& attr, PyObject* value,
                            Arena& arena);

// The other way, for defaults.
nanobind::object AttrToPython(const OpwrightAttr& attr);

}  // namespace opwright::python
