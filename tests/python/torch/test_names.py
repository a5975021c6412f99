# SPDX-License-Identifier: Apache-2.0
"""Names that PyTorch would hide: the validator refuses them, so that no call meets them."""

import pytest
import torch
from operator_libraries import write_operator
from sources import GROUPS

import opwright

OPS = type(torch.ops)
SNAKE = [name for name in {*dir(OPS), *vars(torch.ops)} if name[0].isalpha()]
ATTRIBUTES = [
    name
    for name in SNAKE
    if name in dir(OPS) or type(getattr(torch.ops, name)) is not torch._ops._OpNamespace
]
FRESH = type(torch.ops.aten)("fresh")
OF_NAMESPACES = [name for name in {*vars(FRESH), *dir(type(FRESH))} if name[0].isalpha()]


def metadef(**changed):
    definition, source = GROUPS["element_add"]
    return {**definition, **changed}, source


@pytest.mark.parametrize("name", sorted(ATTRIBUTES))
def test_an_attribute_of_torch_ops_is_no_namespace(tmp_path, name):
    with pytest.raises(opwright.BuildError, match=rf'"{name}" is a name of torch.ops.*\[MD012\]'):
        opwright.build(write_operator(tmp_path / "op", *metadef(namespace=name)))


@pytest.mark.parametrize("name", sorted(OF_NAMESPACES))
def test_an_attribute_of_every_namespace_is_no_operator(tmp_path, name):
    with pytest.raises(opwright.BuildError, match=rf'"{name}" is an attribute.*\[MD012\]'):
        opwright.build(write_operator(tmp_path / "op", *metadef(op_name=name)))


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("kernel", {}),
        ("node", {}),
        ("token", {"side_effect": True}),
        ("op", {"side_effect": True}),
        ("mode", {"side_effect": True}),
        ("mode", {"mutates": ["x"]}),
        ("dispatch_key", {"mutates": ["x"]}),
    ],
)
def test_an_argument_of_pytorchs_compiler_is_no_attribute(tmp_path, name, changed):
    attrs = [{"name": name, "type": "int"}]
    with pytest.raises(opwright.BuildError, match=rf'"{name}" is an argument that PyTorch.*MD012'):
        opwright.build(write_operator(tmp_path / "op", *metadef(attr=attrs, **changed)))


SOURCE = """
#include <opwright/kernel.h>
void Names(opwright::View<KERNEL float> kernel, opwright::View<const float> node,
           opwright::View<float> y, int64_t, int64_t, int64_t) {
  for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = kernel.Data()[i] + node.Data()[i];
}
"""


@pytest.mark.parametrize(
    ("op_name", "inputs", "names", "fields"),
    [
        ("names_plain", ("kernel", "node"), ("mode", "op", "keyset"), {}),
        ("names_effect", ("kernel", "op"), ("keyset", "ctx", "args"), {"side_effect": True}),
        ("names_written", ("kernel", "op"), ("keyset", "op_in", "token"), {"mutates": ["kernel"]}),
    ],
)
def test_other_names_are_attributes_in_compiled_functions_too(
    tmp_path, op_name, inputs, names, fields
):
    tensor = {"dtype": ["float32"], "shape": [-2]}
    definition = {
        "op_name": op_name,
        "input_desc": [{"name": name, **tensor} for name in inputs],
        "output_desc": [{"name": "y", **tensor}],
        "shape_rule": f"same({inputs[0]}, {inputs[1]})",
        "attr": [{"name": name, "type": "int", "default_value": 1} for name in names],
        **fields,
    }
    source = SOURCE.replace("KERNEL", "" if "mutates" in fields else "const")
    source += f"OPWRIGHT_FUNCTION({op_name}, Names)\n"
    op = opwright.load(write_operator(tmp_path / op_name, definition, source))[op_name]
    attrs = dict.fromkeys(names, 2)
    x = torch.ones(3)
    for backend in ("aot_eager", "inductor"):
        compiled = torch.compile(lambda a, b: op(a, b, **attrs), fullgraph=True, backend=backend)
        assert compiled(x, 2 * x).tolist() == op(x, 2 * x, **attrs).tolist() == [3.0] * 3
        torch._dynamo.reset()
