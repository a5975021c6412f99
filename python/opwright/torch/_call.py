# SPDX-License-Identifier: Apache-2.0
"""A call on torch tensors: numbers become tensors, the rest is PyTorch's own dispatch."""

from __future__ import annotations

import difflib
import re

import numpy as np
import torch

from opwright import _core, _errors
from opwright._definition import DYNAMIC, OPTIONAL
from opwright._dtypes import name_of
from opwright._operator import Operator, misfit
from opwright.torch._shape import as_lists

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
_OF_INTS, _OF_FLOATS = (1, 6, 10), (2, 7)
_LARGEST = int(np.finfo(np.float64).max)

_ENDS_WITH_ID = re.compile(r"\[([A-Z]{2}\d{3})\]\s*$")


def as_ours(error: RuntimeError, name: str, inputs=()) -> _errors.Error | None:
    """The exception of Opwright for an error of the native route, in the same words.

    PyTorch carries them in a RuntimeError of its own. None for another's error, and while tracing,
    which knows its own kinds only.
    """
    if isinstance(error, _errors.Error) or torch.compiler.is_compiling():
        return None
    text = str(error)
    found = _ENDS_WITH_ID.search(text)
    if found is not None:
        return _errors.make(found[1], text.rstrip())
    if isinstance(error, NotImplementedError):  # no kernel for such tensors
        for tensor in inputs:
            if isinstance(tensor, torch.Tensor) and tensor.layout != torch.strided:
                kind = str(tensor.layout).removeprefix("torch.")
                words = f"an input is {kind}, dense tensors are due; convert it with to_dense()"
                return _errors.make("CL007", f"{name}: {words}")
            if isinstance(tensor, torch.Tensor) and tensor.device.type != "cpu":
                words = f"an input is on device {tensor.device}, copy it to the CPU first"
                return _errors.make("CL007", f"{name}: {words}")
    return None


def _is_number(value) -> bool:
    return isinstance(value, (int, float))


def _name_of_type(kind: int) -> str:
    return "type" if kind == _ATTR_TYPE else _ATTRS[kind][0]


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
        self._needed = tuple(attr.name for attr in operator.definition.attrs if attr.required)
        self._has_lists = any(param.kind == DYNAMIC for param in operator.definition.inputs)

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
        fitting = len(args) == self._num_inputs and not self._has_lists
        for value in args:
            if not isinstance(value, torch.Tensor):
                fitting = False
        if not fitting:
            args = self._fitting(args)
        for name in self._needed:
            if name not in kwargs:
                kind = _name_of_type(self._attr_types[name])
                self._wrong_attribute(
                    f"{self._name}: attribute {name} ({kind}) is required and was not given"
                )
        if not kwargs:
            return self._run(args, kwargs)
        out = kwargs.get("out")
        if out is not None:
            self._check_out(out)
        attrs = {name: self._plain(name, value) for name, value in kwargs.items() if name != "out"}
        result = self._run(args, attrs)
        return result if out is None else self._write(result, out)

    def _run(self, args, attrs):
        try:
            return self._overload(*args, **attrs)
        except RuntimeError as error:
            ours = as_ours(error, self._name, args)
            if ours is None:
                raise
            raise ours from None

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
                self._wrong_attribute(f"{text}{', '.join(names[:-1])} and {names[-1]}", name, names)
        if not named:
            return args, rest
        for name in self._input_names[: len(args)]:
            if name in named:
                raise _errors.make("CL001", f"{self._name}: input {name} is given twice")
        every = [*args, *(named.get(name) for name in self._input_names[len(args) :])]
        while every and every[-1] is None:  # absent, or missing, which the operator says
            every.pop()
        return tuple(every), rest

    def _fitting(self, args):
        """The inputs of a call that are not one tensor each; numbers as tensors."""
        numbers = False
        for value in args:
            for item in value if isinstance(value, (list, tuple)) else (value,):
                numbers = numbers or _is_number(item)
                if isinstance(item, (np.ndarray, np.generic)) and not _is_number(item):
                    self._refuse(
                        "CL013",
                        f"{self._name}: tensors of torch and numpy in one call; "
                        "convert them to one framework",
                    )
        wrong = misfit(self._definition, args, torch.Tensor)
        if wrong is not None:
            self._refuse(wrong[0], wrong[1])
        return self._with_numbers(args) if numbers else args

    def _with_numbers(self, args):
        """Numbers as 0-d tensors of the dtype of the column that the tensors choose."""
        names = [
            [_weak_name(t) if _is_number(t) else name_of(t.dtype) for t in given]
            for given in as_lists(self._definition, args)
        ]
        column = _column(self._key, ";".join([",".join(given) for given in names]))
        made = []
        for param, value in zip(self._definition.inputs, args, strict=False):
            dtype = getattr(torch, param.dtypes[column])
            if isinstance(value, (list, tuple)):
                made.append(
                    [self._tensor(param.name, t, dtype) if _is_number(t) else t for t in value]
                )
            else:
                made.append(self._tensor(param.name, value, dtype) if _is_number(value) else value)
        return made

    def _tensor(self, name: str, number, dtype):
        """On the CPU, whatever the default device is: numbers stand beside tensors with data."""
        if not dtype.is_floating_point and not dtype.is_complex and dtype != torch.bool:
            span = torch.iinfo(dtype)
            if not span.min <= number <= span.max:
                raise _errors.make(
                    "CL002",
                    f"{self._name}: the number {number} of input {name} is out of range for "
                    f"{name_of(dtype)}",
                )
        return torch.tensor(number, dtype=dtype, device="cpu")

    def _plain(self, name: str, value):
        """An attribute's value as a schema takes it: no arrays, no numpy numbers, no dtypes."""
        kind = self._attr_types[name]
        items = value if isinstance(value, (list, tuple)) else [value]
        if any([isinstance(item, torch.Tensor) for item in items]):
            # The schema would take its number, and what it was computed from would be lost.
            self._wrong_attribute(
                f"{self._name}: attribute {name} is given a tensor, through which no gradient "
                f"flows; make {name} an input of shape [] in the metadef, or pass a number "
                "(item(), tolist())"
            )
        if kind == _ATTR_TYPE and value is not None:
            plain = name_of(value)
            if "\0" in plain:
                self._wrong_attribute(
                    f"{self._name}: attribute {name} is type in the metadef, "
                    f"{repr(value)[:80]} was given"
                )
            return plain
        plain = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
        if kind == _ATTR_TYPE:
            good = False
        elif kind < _FIRST_LIST:
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
                f"{self._name}: attribute {name} is {_name_of_type(kind)} in the metadef, "
                f"{repr(value)[:80]} was given"
            )
        return plain

    def _fits(self, value, kind: int) -> bool:
        if not isinstance(value, _ATTRS[kind][1]):
            return False
        if isinstance(value, bool):
            return kind in _OF_BOOLS
        if isinstance(value, str):
            return "\0" not in value  # kernels see C strings
        if type(value) is int and not torch.compiler.is_compiling():
            if kind in _OF_INTS:
                return -(2**63) <= value < 2**63
            return -_LARGEST <= value <= _LARGEST
        return True

    def _wrong_attribute(self, text: str, name: str = "", names=()):
        near = [] if torch.compiler.is_compiling() else difflib.get_close_matches(name, names, 1)
        self._refuse("CL006", f"{text}; did you mean {near[0]}?" if near else text)

    def _refuse(self, code: str, text: str):
        # A tracer cannot make ours. It shows the words of this one, or calls again without tracing.
        if torch.compiler.is_compiling():
            raise TypeError(text if code in text else f"{text} [{code}]")
        raise _errors.make(code, text)

    def _check_out(self, out):
        """Whether out= can be written to at all, before the kernel runs."""
        params = self._definition.outputs
        if len(params) == 1 and params[0].kind == DYNAMIC:
            outs = (out,)
        else:
            outs = out if isinstance(out, (tuple, list)) else (out,)
        if len(params) != len(outs):
            given = f"{len(outs)} tensor{'' if len(outs) == 1 else 's'}"
            due = f"{len(params)} output{'' if len(params) == 1 else 's'}"
            self._refuse("CL001", f"{self._name}: out= holds {given}, the operator has {due}")
        for param, given in zip(params, outs, strict=True):
            if param.kind == DYNAMIC:
                self._refuse(
                    "CL008",
                    f"{self._name}: out= is not taken for output {param.name}, "
                    "which is a list of tensors; call without out=",
                )
            if given is None and param.kind == OPTIONAL:
                continue
            if not isinstance(given, torch.Tensor):
                self._refuse(
                    "CL008",
                    f"{self._name}: out= for {param.name} must be a torch tensor, "
                    f"{type(given).__name__} was given",
                )

    def _write(self, result, out):
        results = result if isinstance(result, tuple) else (result,)
        outs = out if isinstance(out, (tuple, list)) else (out,)
        pairs = [
            (param, made, given)
            for param, made, given in zip(self._definition.outputs, results, outs, strict=True)
            if given is not None
        ]
        for param, made, given in pairs:
            if made.requires_grad or given.requires_grad:
                self._refuse(
                    "CL008",
                    f"{self._name}: out= where a gradient is due; call under torch.no_grad(), "
                    "or without out=",
                )
            if made.shape != given.shape:
                self._refuse(
                    "CL008",
                    f"{self._name}: output {param.name} has shape {list(given.shape)}, "
                    f"{list(made.shape)} is due",
                )
            if made.dtype != given.dtype:
                self._refuse(
                    "CL015",
                    f"{self._name}: output {param.name} has dtype {name_of(given.dtype)}, "
                    f"{name_of(made.dtype)} is due",
                )
        for _, made, given in pairs:
            given.copy_(made)
        return out
