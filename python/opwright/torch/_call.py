# SPDX-License-Identifier: Apache-2.0
"""A call on torch tensors: numbers become tensors, the rest is PyTorch's own dispatch."""

from __future__ import annotations

import difflib

import numpy as np
import torch

from opwright import _core, _errors
from opwright._dtypes import name_of
from opwright._operator import Operator
from opwright.torch._shape import as_lists, dtype_names

# By the operator's number as text: to a tracer of changing sizes a number is one of them.
_cores: dict[str, _core.Operator] = {}


def _column(key: str, dtypes: str) -> int:
    """The dtype column; a tracer, which guards on dtypes, takes it as it is."""
    names = [list(filter(None, given.split(","))) for given in dtypes.split(";")]
    return _core.select_column(_cores[key], names)


def _unusable(key: str) -> str:
    """Why calls are refused, as on numpy arrays: the library was closed. "" when they are not."""
    try:
        _cores[key].check_usable()
    except _errors.Error as error:
        return str(error)
    return ""


# What torch.compiler.assume_constant_result does, without importing the compiler now.
_column._dynamo_marked_constant = True
_unusable._dynamo_marked_constant = True
_ATTR_TYPE = 5  # an attribute that names a dtype
# By attribute type: its name in messages, and what a value, or an item of a list, may be. Tracers
# have symbols in place of numbers. A bool, which is an int in Python, is a bool here.
_INTS = (int, torch.SymInt)
_FLOATS = (int, float, torch.SymInt, torch.SymFloat)
_BOOLS = (bool, torch.SymBool)
_ATTRS = {
    1: ("int", _INTS),
    2: ("float", _FLOATS),
    3: ("string", (str,)),
    4: ("bool", _BOOLS),
    6: ("list_int", _INTS),
    7: ("list_float", _FLOATS),
    8: ("list_string", (str,)),
    9: ("list_bool", _BOOLS),
    10: ("list_list_int", _INTS),
}
_OF_BOOLS, _FIRST_LIST, _LIST_OF_LISTS = (4, 9), 6, 10


def _weak_name(number) -> str:
    """Of a Python number; numpy's float64 is a float by inheritance."""
    if isinstance(number, bool):
        return "weak_bool"
    return "weak_int" if isinstance(number, int) else "weak_float"


def _listed(items) -> list:
    return [item.tolist() if isinstance(item, (np.ndarray, np.generic)) else item for item in items]


class Call:
    """One operator on torch tensors. Written so that Dynamo can trace it."""

    def __init__(self, operator: Operator, overload):
        self._key = str(operator.key)
        _cores[self._key] = operator._core
        self._overload = overload
        self._definition = operator.definition
        self._name = operator.name
        self._input_names = tuple(param.name for param in operator.definition.inputs)
        self._num_inputs = len(self._input_names)
        self._attr_types = {attr.name: attr.type for attr in operator.definition.attrs}

    def __call__(self, args, kwargs):
        unusable = _unusable(self._key)
        if unusable:
            self._refuse("CL014", unusable)
        if len(args) > self._num_inputs:
            raise _errors.make(
                "CL001",
                f"{self._name}: {len(args)} positional arguments given, the metadef lists "
                f"{self._num_inputs} inputs; attributes are passed by keyword",
            )
        if kwargs:
            args, kwargs = self._inputs_first(args, kwargs)
        numbers = False
        for value in args:
            if isinstance(value, torch.Tensor):
                continue
            if isinstance(value, (int, float)):
                numbers = True
            elif isinstance(value, (list, tuple)):
                for item in value:
                    self._refuse_foreign(item)
            else:
                self._refuse_foreign(value)
        if numbers:
            args = self._with_numbers(args)
        if not kwargs:
            return self._overload(*args)
        out = kwargs.get("out")
        plain = {name: self._plain(name, value) for name, value in kwargs.items() if name != "out"}
        result = self._overload(*args, **plain)
        return result if out is None else self._write(result, out)

    def _inputs_first(self, args, kwargs):
        """Inputs given by name go to their positions; what is left are attributes and out."""
        rest = {}
        named = {}
        for name, value in kwargs.items():
            if name in self._input_names:
                named[name] = value
            elif name == "out" or name in self._attr_types:
                rest[name] = value
            else:
                names = [*self._input_names, *self._attr_types, "out"]
                text = f"{self._name}: no input or attribute is named {name}; there are "
                self._wrong_attribute(text + ", ".join(names), name, names)
        if not named:
            return args, rest
        for name in self._input_names[: len(args)]:
            if name in named:
                raise _errors.make("CL001", f"{self._name}: input {name} is given twice")
        every = [*args, *(named.get(name) for name in self._input_names[len(args) :])]
        while every and every[-1] is None:  # absent, or missing, which the operator says
            every.pop()
        return tuple(every), rest

    def _refuse_foreign(self, value):
        if isinstance(value, (np.ndarray, np.generic)):
            raise _errors.make(
                "CL013",
                f"{self._name}: tensors of torch and numpy in one call; "
                "convert them to one framework",
            )

    def _with_numbers(self, args):
        """Numbers as 0-d tensors of the dtype of the column that the tensors choose."""
        weak = [isinstance(value, (int, float)) for value in args]
        tensors = [None if number else value for number, value in zip(weak, args, strict=True)]
        names = dtype_names(as_lists(self._definition, tensors))
        for i, number in enumerate(weak):
            if number:
                names[i] = [_weak_name(args[i])]
        column = _column(self._key, ";".join([",".join(given) for given in names]))
        return [
            torch.tensor(value, dtype=getattr(torch, self._definition.inputs[i].dtypes[column]))
            if weak[i]
            else value
            for i, value in enumerate(args)
        ]

    def _plain(self, name: str, value):
        """An attribute's value as a schema takes it: no arrays, no numpy numbers, no dtypes."""
        kind = self._attr_types[name]
        if value is None:
            return None
        items = value if isinstance(value, (list, tuple)) else [value]
        if any([isinstance(item, torch.Tensor) for item in items]):
            # The schema would take its number, and what it was computed from would be lost.
            self._wrong_attribute(
                f"{self._name}: attribute {name} is given a tensor, through which no gradient "
                f"flows; make {name} an input of shape [] in the metadef, or pass a number "
                "(item(), tolist())"
            )
        if kind == _ATTR_TYPE:
            return name_of(value)
        plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        if kind < _FIRST_LIST:
            good = self._fits(plain, kind)
        elif not isinstance(plain, (list, tuple)):
            good = False
        elif kind == _LIST_OF_LISTS:
            good = all([isinstance(items, (list, tuple, np.ndarray)) for items in plain])
            plain = [_listed(items) for items in plain] if good else plain
            good = good and all([self._fits(item, kind) for items in plain for item in items])
        else:
            plain = _listed(plain)
            good = all([self._fits(item, kind) for item in plain])
        if not good:
            self._wrong_attribute(
                f"{self._name}: attribute {name} is {_ATTRS[kind][0]} in the metadef, "
                f"{repr(value)[:80]} was given"
            )
        return plain

    def _fits(self, value, kind: int) -> bool:
        allowed = _ATTRS[kind][1]
        return isinstance(value, allowed) and (kind in _OF_BOOLS or not isinstance(value, bool))

    def _wrong_attribute(self, text: str, name: str = "", names=()):
        near = [] if torch.compiler.is_compiling() else difflib.get_close_matches(name, names, 1)
        self._refuse("CL006", f"{text}; did you mean {near[0]}?" if near else text)

    def _refuse(self, code: str, text: str):
        # A tracer cannot make ours. It shows the words of this one, or calls again without tracing.
        if torch.compiler.is_compiling():
            raise TypeError(text if code in text else f"{text} [{code}]")
        raise _errors.make(code, text)

    def _write(self, result, out):
        results = result if isinstance(result, tuple) else (result,)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        if len(results) != len(outs):
            raise _errors.make(
                "CL001", f"{self._name}: out= holds {len(outs)} tensors, {len(results)} are due"
            )
        for made, given in zip(results, outs, strict=True):
            if made.requires_grad or given.requires_grad:
                raise _errors.make(
                    "CL008",
                    f"{self._name}: out= where a gradient is due; call under torch.no_grad(), "
                    "or without out=",
                )
            if made.shape != given.shape:
                raise _errors.make(
                    "CL008",
                    f"{self._name}: out= has shape {list(given.shape)}, {list(made.shape)} is due",
                )
            if made.dtype != given.dtype:
                raise _errors.make(
                    "CL015",
                    f"{self._name}: out= has dtype {name_of(given.dtype)}, "
                    f"{name_of(made.dtype)} is due",
                )
        for made, given in zip(results, outs, strict=True):
            given.copy_(made)
        return out
