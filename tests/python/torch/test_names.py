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
