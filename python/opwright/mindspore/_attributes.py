# SPDX-License-Identifier: Apache-2.0
"""Attribute values as MindSpore's users give them."""

from __future__ import annotations

import mindspore as ms

from opwright import _arguments, _errors

MINDSPORE = _arguments.Framework("mindspore", (ms.Tensor,), writes_out=False)


def plain(op: str, attr, value):
    """A value of the attribute's type; CL006 when it is none."""
    return _arguments.plain(MINDSPORE, op, attr, value)


def known(definition, values: dict) -> dict:
    """Attributes by name, each of its type; CL006 for a name that is none."""
    return {
        name: plain(definition.name, _arguments.attribute(MINDSPORE, definition, name), value)
        for name, value in values.items()
    }


def known_in_graph(definition, values: dict) -> dict:
    """The same where None is what MindSpore's compiler has for anything that is no constant."""
    for name, value in values.items():
        if value is None:
            raise _errors.make(
                "CL006",
                f"{definition.name}: attribute {name} is given None, or what is not known while "
                f"the graph is compiled; make {name} an input of shape [] in the metadef, or pass "
                "a constant",
            )
    return known(definition, values)


def from_reg_info(definition, reg_info) -> dict:
    """The attributes of what CustomRegOp(...).get_op_info() returns."""
    if reg_info is None:
        return {}
    if not isinstance(reg_info, dict):
        raise _errors.make(
            "CL006",
            f"{definition.name}: reg_info is a {type(reg_info).__name__}; "
            "CustomRegOp(...).get_op_info() is due",
        )
    values = {
        item["name"]: item["value"]
        for item in reg_info.get("attr", [])
        if item.get("value") is not None and item["value"] != "all"
    }
    return known(definition, values)
