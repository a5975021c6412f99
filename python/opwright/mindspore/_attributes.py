# SPDX-License-Identifier: Apache-2.0
"""Attribute values as MindSpore's users give them."""

from __future__ import annotations

import difflib

import mindspore as ms

from opwright import _errors
from opwright._dtypes import name_of

_NAMES = {
    1: "int", 2: "float", 3: "string", 4: "bool", 5: "type",
    6: "list_int", 7: "list_float", 8: "list_string", 9: "list_bool", 10: "list_list_int",
}  # fmt: skip
_TYPE = 5
_SCALARS = {1: int, 2: (int, float), 3: str, 4: bool}
_ITEMS = {6: 1, 7: 2, 8: 3, 9: 4, 10: 6}  # of lists


def _fits(value, kind: int) -> bool:
    if kind in _SCALARS:
        return isinstance(value, _SCALARS[kind]) and (kind == 4 or not isinstance(value, bool))
    return isinstance(value, (list, tuple)) and all(_fits(each, _ITEMS[kind]) for each in value)


def _of_python(value):
    """Without numpy's arrays and numbers."""
    if value is None or isinstance(value, ms.Tensor):
        raise TypeError
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_of_python(each) for each in value] if isinstance(value, (list, tuple)) else value


def plain(op: str, attr, value):
    """A value of the attribute's type; CL006 when it is none."""
    try:
        value = _of_python(value)
    except TypeError:
        raise _errors.make(
            "CL006",
            f"{op}: attribute {attr.name} is {_NAMES[attr.type]} in the metadef, and what was "
            "given is a tensor, None, or not known while the graph is compiled; what is trained or "
            "computed is an input of shape []",
        ) from None
    if attr.type == _TYPE:
        return name_of(value).lower()
    if _fits(value, attr.type):
        return value
    raise _errors.make(
        "CL006",
        f"{op}: attribute {attr.name} is {_NAMES[attr.type]} in the metadef, "
        f"{repr(value)[:80]} was given",
    )


def known(op: str, definition, values: dict) -> dict:
    """Attributes by name, each of its type; CL006 for a name that is none."""
    attrs = {attr.name: attr for attr in definition.attrs}
    for name in values:
        if name not in attrs:
            there = ", ".join(attrs) or "none"
            near = difflib.get_close_matches(name, attrs, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _errors.make(
                "CL006", f"{op}: no attribute is named {name}; there are {there}{hint}"
            )
    return {name: plain(op, attrs[name], value) for name, value in values.items()}


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
    return known(definition.name, definition, values)
