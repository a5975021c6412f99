// SPDX-License-Identifier: Apache-2.0
//
// The module core_gradient of the tests: a gradient by the core on numpy arrays, which PyTorch's
// adapter is held against.
#include "base/text.h"
#include "python/bind/attr_value.h"
#include "python/bind/bind.h"
#include "python/bind/numpy_array.h"

namespace opwright::python {
namespace {

using Groups = std::vector<std::vector<nb::object>>;

// The arrays of each input or output as the core takes them; an empty group is one that is absent.
const OpwrightArgument* Arguments(const Groups& groups, int32_t due, const char* what,
                                  const OpwrightOpDef& def, Arena& arena) {
  if (groups.size() != static_cast<size_t>(due))
    Raise(MakeError("CL001",
                    StrCat(def.name, ": ", groups.size(), " ", what, " given, ", due, " are due")));
  auto* arguments = arena.Make<OpwrightArgument>(due);
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto count = static_cast<int64_t>(groups[i].size());
    auto* tensors = arena.Make<OpwrightTensor>(count);
    for (int64_t k = 0; k < count; ++k)
      if (ViewArray(groups[i][static_cast<size_t>(k)].ptr(), &tensors[k], arena) != ArrayFit::kOk)
        Raise(MakeError("CL002", StrCat(def.name, ": one of the ", what,
                                        " is no numpy array of "
                                        "plain memory")));
    arguments[i] = {tensors, count};
  }
  return arguments;
}

void CallGradient(PyOperator& self, const Groups& inputs, const Groups& outputs,
                  const nb::dict& attrs, const Groups& output_grads, const Groups& input_grads) {
  const OpwrightOpDef& def = self.op->def();
  Arena arena(nullptr);
  const OpwrightArgument* given = Arguments(inputs, def.num_inputs, "inputs", def, arena);
  const OpwrightArgument* made = Arguments(outputs, def.num_outputs, "outputs", def, arena);
  const OpwrightArgument* cotangents =
      Arguments(output_grads, def.num_outputs, "output gradients", def, arena);
  const OpwrightArgument* grads =
      Arguments(input_grads, def.num_inputs, "input gradients", def, arena);
  auto* values = arena.Make<OpwrightAttr>(def.num_attrs);
  for (int32_t i = 0; i < def.num_attrs; ++i) {
    values[i] = {};
    if (attrs.contains(def.attrs[i]->name))
      values[i] = AttrFromPython(def, *def.attrs[i], attrs[def.attrs[i]->name].ptr(), arena);
  }
  const Status status = [&] {
    const nb::gil_scoped_release release;
    return self.op->CallGradient(given, made, values, def.num_attrs, cotangents, grads);
  }();
  if (!status.ok()) Raise(status.error());
}

}  // namespace

}  // namespace opwright::python

NB_MODULE(core_gradient, m) {
  namespace nb = nanobind;
  opwright::python::ImportNumpy();
  m.def("call_gradient", &opwright::python::CallGradient, nb::arg("operator"), nb::arg("inputs"),
        nb::arg("outputs"), nb::arg("attrs"), nb::arg("output_grads"), nb::arg("input_grads"),
        "Writes into input_grads; each is a list of arrays, empty for what is absent or unwanted.");
}
