# SPDX-License-Identifier: Apache-2.0
"""Operators: called on the tensors of any framework."""

from __future__ import annotations

import json
import warnings
from functools import cached_property
from typing import Any

import numpy as np

from opwright import _core, _errors, _hooks
from opwright._arguments import check_inputs
from opwright._definition import Definition
from opwright._framework_of import framework_of, stands_for_torch
from opwright._spec import Spec, stand_in

_ndarray = np.ndarray  # one lookup less in each call

# Python rules, by the operator's number in this process.
_bprops: dict[int, Any] = {}
# What was said of one rule in another's place.
_told: set[tuple[int, str]] = set()


def any_rule() -> bool:
    """Whether a Python rule was bound to any operator."""
    return bool(_bprops)


def _takes(known: type, kind: type) -> bool:
    """Whether the call on tensors of the type `known` takes those of `kind`."""
    return issubclass(kind, known) or (stands_for_torch(known) and stands_for_torch(kind))


class Operator:
    """One operator of a library.

    Called with one tensor for each input in metadef order (optional ones may be left out or None,
    dynamic ones are lists; inputs may be given by name), attributes by keyword. Returns tensors of
    the same framework: one, or a tuple. `out=` takes numpy arrays or tensors to write to, where no
    gradient is due. Python numbers stand for 0-d tensors of the dtype that the others choose.
    """

    def __init__(self, core: _core.Operator):
        self._core = core
        self._call_numpy = core.call_numpy
        self.name: str = core.name
        self.__name__ = self.name  # as a function's: for torch.vmap, functools.wraps
        # The SHA-256 of the library's file.
        self.identity: str = core.identity
        # The same number for the same operator of the same library content in this process.
        self.key: int = core.key
        # Tensor type -> call(args, kwargs), filled by the adapters of the imported frameworks.
        self._calls: dict[type, Any] = {}
        _hooks.prepare(self)

    def __call__(self, /, *args, **kwargs):
        # numpy first: the commonest case, and one that a tracer of another framework never takes.
        if args and type(args[0]) is _ndarray:
            call = self._call_numpy  # an attribute is read faster than a method is found
            result = call(args, kwargs)
            if result is not NotImplemented:
                return result
        for value in args:
            call = self._calls.get(type(value))
            if call is not None:
                return call(args, kwargs)
        return self._call_other(args, kwargs)

    def _call_other(self, args, kwargs):
        """Calls by keyword, with lists first, with subclasses of tensors, or wrong ones."""
        if not self._calls and not self._core.has_metadef:
            return self._call_numpy(args, kwargs)  # which says so
        # Attributes may be of any framework: a dtype, a number of numpy.
        tensors = {param.name for param in self.definition.inputs} | {"out"}
        named = {name: value for name, value in kwargs.items() if name in tensors}
        framework, kind = framework_of(self.name, args, named)
        if framework != "numpy":
            call = self._calls.get(kind) or next(
                (call for known, call in self._calls.items() if _takes(known, kind)), None
            )
            if call is not None:
                return call(args, kwargs)
        result = self._call_numpy(args, kwargs)
        if result is NotImplemented:
            inputs = [*args, *[None] * (len(self.definition.inputs) - len(args))]
            for i, param in enumerate(self.definition.inputs):
                inputs[i] = named.get(param.name, inputs[i])
            check_inputs(self.definition, inputs, (np.ndarray, np.generic))
            raise _errors.make(
                "CL013", f"{self.name}: arguments that are neither tensors nor numbers"
            )
        return result

    @cached_property
    def metadef(self) -> dict:
        """The metadef as it was written."""
        return json.loads(self._core.json) if self._core.has_metadef else {}

    @cached_property
    def definition(self) -> Definition:
        """The metadef lowered: indices and programs instead of names and text."""
        return Definition.of(self._core)

    @property
    def backward(self) -> Operator | None:
        """The compiled backward operator, if there is one."""
        core = self._core.backward
        return None if core is None else Operator(core)

    @property
    def python_bprop(self):
        """The Python rule bound by `bprop`, or None."""
        return _bprops.get(self.key)

    def bprop(self, rule):
        """Binds a Python rule for the gradient, in every framework; usable as a decorator.

        `rule(*inputs, out, dout)` returns a tuple with one gradient for each input, in order; None
        for inputs that are integer, absent or need none. With several outputs `out` and `dout` are
        tuples. Attributes come as keywords if the rule names them.

        The rule is that of the library's content: of every handle of it in this process. One of
        another name in its place is told by a warning. None takes it off: the compiled backward
        operator counts again.
        """
        return self._bind(rule, 2)

    def _bind(self, rule, depth: int):
        """depth: how many calls up the user's line is."""
        from opwright._bprop import check_signature, replaced

        bound = _bprops.get(self.key)
        if rule is None:
            _bprops.pop(self.key, None)
        else:
            check_signature(self, rule)
            words = "" if bound is None else replaced(rule, bound)
            if words and (self.key, words) not in _told:
                text = f"{self.name}: {words} for every handle of this library in this process"
                warnings.warn(text, RuntimeWarning, stacklevel=depth + 1)
                _told.add((self.key, words))
            _bprops[self.key] = rule
        if bound is not rule:
            _hooks.rule_bound(self.key)
        return rule

    def infer(self, *args, **kwargs) -> Spec | tuple[Spec, ...]:
        """The shape and dtype of each output, without running the kernel.

        Inputs are anything with `shape` and `dtype`: tensors or `opwright.Spec`s.
        """
        names = {param.name for param in self.definition.inputs}
        args = tuple(stand_in(self.name, value) for value in args)
        kwargs = {
            name: stand_in(self.name, value) if name in names else value
            for name, value in kwargs.items()
        }
        outputs = self._core.infer_numpy(args, kwargs)
        specs = tuple(Spec(tuple(shape), dtype) for shape, dtype in outputs)
        return specs[0] if len(specs) == 1 else specs

    def __copy__(self) -> Operator:
        return self

    def __deepcopy__(self, memo) -> Operator:
        """Itself: an operator has no state, and models that hold one are copied."""
        return self

    def __reduce__(self):
        """By its library's path and content: a process that has not loaded that does it."""
        if self._core.is_bound:
            raise TypeError(
                f"{self.name} was put together by the acl form, "
                "which each process does for itself: "
                "it cannot be pickled"
            )
        from opwright._library import restore

        return restore, (self._core.library_path, self.identity, self.name)

    def __repr__(self) -> str:
        return f"<opwright operator {self.name} of {self._core.library_path} ({self.identity[:8]})>"
