# SPDX-License-Identifier: Apache-2.0
"""A call on torch tensors: numbers become tensors, the rest is PyTorch's own dispatch."""

from __future__ import annotations

import re

import torch

from opwright import _arguments, _core, _errors
from opwright._arguments import is_number
from opwright._definition import DYNAMIC, Definition
from opwright._dtypes import name_of
from opwright._framework_of import stands_for_torch
from opwright._operator import Operator
from opwright.torch import _out, _tensors
from opwright.torch._shape import as_lists
from opwright.torch._traced import constant

# By the operator's number as text: to a tracer of changing sizes a number is one of them.
_cores: dict[str, _core.Operator] = {}


@constant
def _column(key: str, dtypes: str) -> int:
    """The dtype column; a tracer, which guards on dtypes, takes it as it is."""
    names = [list(filter(None, given.split(","))) for given in dtypes.split(";")]
    return _core.select_column(_cores[key], names)


@constant
def _unusable(key: str) -> str:
    """Why calls are refused, as on numpy arrays: the library was closed. "" when they are not."""
    try:
        _cores[key].check_usable()
    except _errors.Error as error:
        return str(error)
    return ""


_IDS = frozenset(row[0] for row in _core.error_ids())
_ENDS_WITH_ID = re.compile(r"\[([A-Z]{2}\d{3})\]\s*$")


def as_ours(error: RuntimeError, definition: Definition, inputs=()) -> _errors.Error | None:
    """The exception of Opwright for an error of the native route, in the same words.

    PyTorch carries them in a RuntimeError of its own. None for another's error, and while tracing,
    which knows its own kinds only.
    """
    if isinstance(error, _errors.Error) or torch.compiler.is_compiling():
        return None
    text = str(error)
    found = _ENDS_WITH_ID.search(text)
    if found is not None and found[1] in _IDS:
        return _errors.make(found[1], text.rstrip())
    if isinstance(error, NotImplementedError):  # no kernel for such tensors
        words = _tensors.unusable(definition, inputs)
        return _errors.make("CL007", words) if words else None
    return None


FRAMEWORK = _arguments.Framework(
    "torch",
    (torch.Tensor,),
    symbols={
        "int": (torch.SymInt,),
        "float": (torch.SymInt, torch.SymFloat),
        "bool": (torch.SymBool,),
    },
    tracing=torch.compiler.is_compiling,
)


def _likes(inputs) -> tuple[type, ...]:
    """The types of what is no tensor and stands for one: PyTorch's dispatch calls them."""
    if torch.compiler.is_compiling():
        return ()
    items = [t for v in inputs for t in (v if isinstance(v, (list, tuple)) else (v,))]
    return tuple({type(item) for item in items if stands_for_torch(type(item))})


def _weak_name(number) -> str:
    """Of a Python number; numpy's float64 is a float by inheritance."""
    if isinstance(number, bool):
        return "weak_bool"
    return "weak_int" if isinstance(number, int) else "weak_float"


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
        self._attrs = {attr.name: attr for attr in operator.definition.attrs}
        self._needed = tuple(attr.name for attr in operator.definition.attrs if attr.required)
        self._has_lists = any(param.kind == DYNAMIC for param in operator.definition.inputs)

    def __call__(self, args, kwargs):
        unusable = _unusable(self._key)
        if unusable:
            _errors.refuse("CL014", unusable)
        if len(args) > self._num_inputs:
            _arguments.check_count(self._definition, len(args))
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
                kind = _arguments.KINDS[self._attrs[name].type].name
                text = f"{self._name}: attribute {name} ({kind}) is required and was not given"
                _errors.refuse("CL006", text)
        if not kwargs:
            return self._run(args, kwargs)
        out = kwargs.get("out")
        outs = None if out is None else _out.check(self._definition, out, args)
        attrs = {
            name: _arguments.plain(FRAMEWORK, self._name, self._attrs[name], value)
            for name, value in kwargs.items()
            if name != "out"
        }
        if outs is None:
            return self._run(args, attrs)
        if not self._definition.mutates:
            _out.write(self._definition, outs, self._run(args, attrs))
        elif torch.compiler.is_compiling():
            # What is refused in a trace leaves a graph behind that has run the kernel.
            copies = _out.copies(self._definition, args)
            _out.write(self._definition, outs, self._run(copies, attrs))
            _out.write_back(self._definition, copies, args)
        else:
            _out.check_shapes(self._definition, outs, self._overload, args, attrs)
            _out.write(self._definition, outs, self._run(args, attrs))
        return out

    def _run(self, args, attrs):
        try:
            return self._overload(*args, **attrs)
        except RuntimeError as error:
            ours = as_ours(error, self._definition, args)
            if ours is None:
                raise
            raise ours from None

    def _inputs_first(self, args, kwargs):
        """Inputs given by name go to their positions; what is left are attributes and out."""
        names = _arguments.named_inputs(FRAMEWORK, self._definition, len(args), kwargs)
        if not names:
            return args, kwargs
        named = {name: kwargs[name] for name in names}
        rest = {name: value for name, value in kwargs.items() if name not in named}
        every = [*args, *(named.get(name) for name in self._input_names[len(args) :])]
        while every and every[-1] is None:  # absent, or missing, which the operator says
            every.pop()
        return tuple(every), rest

    def _fitting(self, args):
        """The inputs of a call that are not one tensor each; numbers as tensors."""
        _arguments.refuse_numpy(FRAMEWORK, self._definition, args)
        _arguments.check_inputs(self._definition, args, (torch.Tensor, *_likes(args)))
        for value in args:
            for item in value if isinstance(value, (list, tuple)) else (value,):
                if is_number(item):
                    return self._with_numbers(args)
        return args

    def _with_numbers(self, args):
        """Numbers as 0-d tensors of the dtype of the column that the tensors choose."""
        names = [
            [_weak_name(t) if is_number(t) else self._dtype_name(t) for t in given]
            for given in as_lists(self._definition, args)
        ]
        column = _column(self._key, ";".join([",".join(given) for given in names]))
        made = []
        for param, value in zip(self._definition.inputs, args, strict=False):
            dtype = getattr(torch, param.dtypes[column])
            if isinstance(value, (list, tuple)):
                made.append(
                    [self._tensor(param.name, t, dtype) if is_number(t) else t for t in value]
                )
            else:
                made.append(self._tensor(param.name, value, dtype) if is_number(value) else value)
        return made

    def _dtype_name(self, tensor) -> str:
        if not isinstance(tensor.dtype, torch.dtype):
            _errors.refuse(
                "CL013",
                f"{self._name}: a number beside {type(tensor).__name__}, which does not say the "
                "dtype that the number takes; pass a tensor",
            )
        return name_of(tensor.dtype)

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
