# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls, sorted and checked for the adapters: inputs by position or name, attributes
as plain Python values of their types.

The core has the same words for numpy's calls. Written so that a framework's tracer can read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from opwright import _core, _errors
from opwright._definition import DYNAMIC, REQUIRED, Attr, Definition
from opwright._dtypes import name_of


class Kind(NamedTuple):
    """An attribute type: "list_list_int" is of item "int" in lists of depth 2."""

    name: str
    item: str
    depth: int


KINDS = {
    number: Kind(name, name.rpartition("_")[2], name.count("list_"))
    for name, number in _core.attr_types.items()
}
_TYPES = {"int": (int,), "float": (int, float), "string": (str,), "bool": (bool,)}
_SEQUENCES = (list, tuple, range)
_LARGEST = int(np.finfo(np.float64).max)


def _never() -> bool:
    return False


class Framework(NamedTuple):
    """What is asked of a framework.

    symbols: by an attribute's item, what its tracer has in place of numbers; tracing: whether it
    traces now; writes_out: whether calls take out=.
    """

    name: str
    tensors: tuple[type, ...]
    symbols: Mapping[str, tuple[type, ...]] = {}
    tracing: Callable[[], bool] = _never
    writes_out: bool = True


def counted(n: int, noun: str) -> str:
    """ "1 input", "2 inputs" """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def check_count(definition: Definition, count: int) -> None:
    """CL001 for more inputs by position than there are."""
    due = len(definition.inputs)
    if count > due:
        _errors.refuse(
            "CL001",
            f"{definition.name}: {counted(count, 'positional argument')} given, the metadef lists "
            f"{counted(due, 'input')}; attributes are passed by keyword",
        )


def named_inputs(framework: Framework, definition: Definition, count: int, names) -> list[str]:
    """Which of the keywords are inputs, where `count` inputs are given by position."""
    inputs = [param.name for param in definition.inputs]
    found = []
    for name in names:
        if name in inputs:
            if name in inputs[:count]:
                _errors.refuse("CL001", f"{definition.name}: input {name} is given twice")
            found.append(name)
        elif name != "out":
            attribute(framework, definition, name)
        elif not framework.writes_out:
            text = f"{definition.name}: tensors of {framework.name} are not written by out="
            _errors.refuse("CL008", text)
    return found


def attribute(framework: Framework, definition: Definition, name: str) -> Attr:
    """The attribute of this name; CL006 when there is none."""
    for attr in definition.attrs:
        if attr.name == name:
            return attr
    names = [param.name for param in definition.inputs] + [attr.name for attr in definition.attrs]
    if framework.writes_out:
        names.append("out")
    there = ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else "".join(names)
    text = f"{definition.name}: no input or attribute is named {name}; there are {there}"
    near = "" if framework.tracing() else _core.nearest(name, names)
    return _errors.refuse("CL006", f"{text}; did you mean {near}?" if near else text)


def refuse_numpy(framework: Framework, definition: Definition, inputs) -> None:
    """CL013 for numpy's arrays beside the tensors of a framework; its float64 is a number."""
    for value in inputs:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, (np.ndarray, np.generic)) and not is_number(item):
                _errors.refuse(
                    "CL013",
                    f"{definition.name}: tensors of {framework.name} and numpy in one call; "
                    "convert them to one framework",
                )


def is_number(value) -> bool:
    return isinstance(value, (int, float))


def check_inputs(definition: Definition, inputs, tensors) -> None:
    """Refuses the first input that is no tensor, number or list where one is due.

    inputs: by position, those at the end may be left out; tensors: the types of tensors.
    """
    name = definition.name
    every = [*inputs, *[None] * (len(definition.inputs) - len(inputs))]
    for index, (param, value) in enumerate(zip(definition.inputs, every, strict=True)):
        listed = param.kind == DYNAMIC
        if listed and not isinstance(value, (list, tuple)):
            _errors.refuse("CL001", f"{name}: input {param.name} takes a list of tensors")
        for item in value if listed else () if value is None else (value,):
            if isinstance(item, tensors):
                continue
            if not is_number(item):
                other, own = _framework(item), tensors[0].__module__.partition(".")[0]
                if other and other != own:
                    _errors.refuse(
                        "CL013",
                        f"{name}: input {param.name} is given a tensor of {other}, the others are "
                        f"of {own}; convert them to one framework",
                    )
                where = " in its list" if listed else ""
                _errors.refuse(
                    "CL013",
                    f"{name}: input {param.name} is given {type(item).__name__}{where}, "
                    "a tensor or a number is due",
                )
            if index in definition.mutates:
                _errors.refuse(
                    "CL008",
                    f"{name}: input {param.name} is written by the operator: it must be a tensor, "
                    "a number was given",
                )
            if type(item) is int and not -(2**63) <= item < 2**63:
                _errors.refuse(
                    "CL002", f"{name}: the number for input {param.name} does not fit int64"
                )
    for param, value in zip(definition.inputs, every, strict=True):
        if value is None and param.kind == REQUIRED:
            _errors.refuse("CL001", f"{name}: input {param.name} is required and was not given")


def _framework(value) -> str:
    """Whose tensor a value is, "" for what is none of MindSpore's or PyTorch's."""
    root = type(value).__module__.partition(".")[0]
    is_tensor = type(value).__name__ in ("Tensor", "Parameter") and root in ("mindspore", "torch")
    return root if is_tensor else ""


def plain(framework: Framework, op: str, attr: Attr, value):
    """An attribute's value of its type: no array, no number of numpy, no framework's dtype."""
    kind = KINDS[attr.type]
    items = value if isinstance(value, (list, tuple)) else [value]
    if any([isinstance(item, framework.tensors) for item in items]):
        # Its number could be taken, and what it was computed from would be lost.
        _errors.refuse(
            "CL006",
            f"{op}: attribute {attr.name} is given a tensor, through which no gradient flows; make "
            f"{attr.name} an input of shape [] in the metadef, or pass a number (item(), tolist())",
        )
    if kind.item == "type":
        made = "\0" if value is None else name_of(value)
        good = "\0" not in made
    else:
        made = _without_numpy(value, kind.depth)
        good = _fits(framework, made, kind.item, kind.depth)
    if not good:
        _errors.refuse(
            "CL006",
            f"{op}: attribute {attr.name} is {kind.name}{_width(kind, value)} in the metadef, "
            f"{repr(value)[:80]} was given",
        )
    return made


def _width(kind, value) -> str:
    return " of 64 bits" if kind.name == "int" and type(value) is int else ""


def _without_numpy(value, depth: int):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if depth == 0 or not isinstance(value, _SEQUENCES):
        return value
    return [_without_numpy(item, depth - 1) for item in value]


def _fits(framework: Framework, value, item: str, depth: int) -> bool:
    if depth > 0:
        if not isinstance(value, list):
            return False
        return all([_fits(framework, each, item, depth - 1) for each in value])
    if isinstance(value, bool) and item != "bool":  # which is an int in Python
        return False
    if not isinstance(value, (*_TYPES[item], *framework.symbols.get(item, ()))):
        return False
    if isinstance(value, str):
        return "\0" not in value  # kernels see C strings
    if type(value) is int and not framework.tracing():
        if item == "int":
            return -(2**63) <= value < 2**63
        return -_LARGEST <= value <= _LARGEST
    return True
