# SPDX-License-Identifier: Apache-2.0
"""The gradient by a compiled backward operator, worked out once for each operator."""

from __future__ import annotations

import torch
from torch._guards import detect_fake_mode
from torch.compiler import is_dynamo_compiling

from opwright import _core, _errors
from opwright._definition import DYNAMIC, OPTIONAL, ROLE_GRAD, ROLE_INPUT
from opwright._dtypes import name_of
from opwright._operator import Operator
from opwright._spec import Spec
from opwright.torch._call import as_ours
from opwright.torch._shape import ABSENT, Outputs, joined
from opwright.torch._traced import constant


class CompiledBackward:
    def __init__(self, op: Operator, overload):
        """overload: the torch operator of the backward one."""
        definition, gradient = op.definition, op.definition.gradient
        backward = op.backward
        target = backward.definition
        self._op = op
        self._backward_name = backward.name
        self._target = target
        self._overload = overload
        self._targets = gradient.outputs
        self._lacking = [i for i in range(len(definition.inputs)) if i not in gradient.outputs]
        # (role, index, optional, dynamic) for each input of the backward operator.
        self._sources = [
            (role, index, param.kind == OPTIONAL, param.kind == DYNAMIC)
            for (role, index), param in zip(gradient.inputs, target.inputs, strict=True)
        ]
        taken = gradient.taken(ROLE_GRAD)
        self._lost = [k for k in range(len(definition.outputs)) if k not in taken]
        names = {attr.name for attr in target.attrs}
        self._attrs = [attr.name for attr in definition.attrs if attr.name in names]
        self._shapes = [
            (
                f"_{param.name}_shape",
                index,
                param.kind == DYNAMIC,
                ABSENT if param.kind == OPTIONAL else [0],
            )
            for param, rule, index in zip(
                target.outputs, target.shape_rules, gradient.outputs, strict=True
            )
            if rule.of_caller
        ]
        self._takes_wanted = any(param.kind == OPTIONAL for param in target.outputs)
        self._single = len(target.outputs) == 1
        self._param_dtypes = [
            [getattr(torch, name) for name in param.dtypes] for param in target.inputs
        ]
        # The dtypes given -> the dtype of each input in the column they take; None: they are that.
        self._columns: dict[tuple, list[torch.dtype] | None] = {}

    def __call__(self, ctx, given, results, grads, needs) -> list:
        """given, results, grads: a tensor or None for each input and output; needs: flags.

        given and results have what the backward operator takes; ctx.specs and ctx.out_specs have
        the shape and dtype of every input and output that was there.
        """
        self._check(needs)
        for index in self._lost:
            self._refuse_lost(index, grads[index])
        arguments = []
        for role, index, optional, _ in self._sources:
            if role == ROLE_INPUT:
                value = given[index]
            elif role == ROLE_GRAD:
                value = grads[index]
                if value is None and not optional:
                    ((shape, dtype),) = self._out_specs(ctx, index)
                    value = _first(grads).new_zeros(shape, dtype=dtype)
            else:
                value = results[index]
            arguments.append(value)

        key = tuple([None if t is None else t.dtype for t in arguments])
        dtypes = () if is_dynamo_compiling() else self._columns.get(key, ())
        if dtypes == ():
            dtypes = self._dtypes(key)
        if dtypes is not None:
            arguments = [_cast(t, dtype) for t, dtype in zip(arguments, dtypes, strict=True)]

        keywords = {name: ctx.attrs[name] for name in self._attrs}
        for keyword, index, _, absent in self._shapes:
            keywords[keyword] = absent if ctx.specs[index] is None else ctx.specs[index][0]
        if self._takes_wanted:
            keywords["_wanted"] = [needs[index] for index in self._targets]
        returned = self._call(arguments, keywords)

        made = [None] * len(needs)
        for value, index in zip(
            (returned,) if self._single else returned, self._targets, strict=True
        ):
            if needs[index]:
                made[index] = self._fitted(value, ctx.specs[index], index)
        return made

    def with_lists(self, ctx, given, results, grads, needs) -> list[list]:
        """The same with a list of tensors for each input and output."""
        self._check([True in flags for flags in needs])
        for index in self._lost:
            for grad in grads[index]:
                self._refuse_lost(index, grad)
        inputs = [self._listed(ctx, given, results, grads, *source) for source in self._sources]
        key = tuple([tuple([t.dtype for t in tensors]) for tensors in inputs])
        dtypes = () if is_dynamo_compiling() else self._columns.get(key, ())
        if dtypes == ():
            dtypes = self._dtypes(key)
        if dtypes is not None:
            inputs = [
                [_cast(t, dtype) for t in tensors]
                for tensors, dtype in zip(inputs, dtypes, strict=True)
            ]
        arguments = [
            tensors if dynamic else tensors[0] if tensors else None
            for tensors, (_, _, _, dynamic) in zip(inputs, self._sources, strict=True)
        ]
        keywords = {name: ctx.attrs[name] for name in self._attrs}
        for keyword, index, dynamic, absent in self._shapes:
            shapes = [shape for shape, _ in ctx.specs[index]]
            keywords[keyword] = joined(shapes) if dynamic else shapes[0] if shapes else absent
        if self._takes_wanted:
            keywords["_wanted"] = [True in needs[index] for index in self._targets]
        returned = self._call(arguments, keywords)

        made: list[list] = [[None] * len(specs) for specs in ctx.specs]
        for value, index in zip(
            (returned,) if self._single else returned, self._targets, strict=True
        ):
            group = value if isinstance(value, list) else (value,)
            for k, spec in enumerate(ctx.specs[index]):
                if needs[index][k]:
                    made[index][k] = self._fitted(group[k], spec, index)
        return made

    def _call(self, arguments, keywords):
        try:
            return self._overload(*arguments, **keywords)
        except RuntimeError as error:
            ours = as_ours(error, self._target, arguments)
            if ours is None:
                raise
            raise ours from None

    def _check(self, needed) -> None:
        for i in self._lacking:
            if needed[i]:
                raise _errors.make("GR002", self._op._core.missing_gradient(i))

    def _refuse_lost(self, index, grad) -> None:
        """A gradient that is not zero through an output of which the backward operator takes none.
        A compiled graph has its outputs' gradients whether they are used or not."""
        if grad is None:
            return
        words = self._op._core.lost_gradient(index)
        if detect_fake_mode(grad) is not None:
            torch._assert_async(grad.any().logical_not(), f"{words} [GR023]")
            return
        try:
            is_lost = bool(grad.any())
        except RuntimeError:  # vmap lets nobody look at values
            is_lost = True
        if is_lost:
            raise _errors.make("GR023", words)

    def _listed(self, ctx, given, results, grads, role, index, optional, _):
        if role == ROLE_INPUT:
            return given[index]
        if role != ROLE_GRAD:
            return results[index]
        absent = [grad is None for grad in grads[index]]  # `None in ...` would compare tensors
        if True not in absent:
            return grads[index]
        if optional and False not in absent:
            return []
        like = _first(grad for group in grads for grad in group)
        return [
            like.new_zeros(shape, dtype=dtype) if grad is None else grad
            for grad, (shape, dtype) in zip(grads[index], self._out_specs(ctx, index), strict=True)
        ]

    def _out_specs(self, ctx, index) -> list[tuple]:
        """The shape and dtype of each tensor of an output; of one that was not wanted, which is an
        empty tensor, those that it would have."""
        op = self._op
        if op.definition.outputs[index].kind != OPTIONAL:
            return ctx.out_specs[index]
        wanted = ctx.keywords.get("_wanted")
        if wanted is None or wanted[index]:
            return ctx.out_specs[index]
        given = [
            [Spec(shape, name_of(dtype)) for shape, dtype in _listed(specs)] for specs in ctx.specs
        ]
        try:
            return Outputs(op, given, ctx.attrs, ctx.keywords).of(index)
        except _errors.ShapeError as error:
            why = str(error).removesuffix(f" [{error.code}]")
            raise _errors.make(
                "CL005",
                f"{why}; {self._backward_name} is due the gradient of that output as zeros: let "
                "it take an optional input there",
            ) from None

    def _dtypes(self, key) -> list[torch.dtype]:
        column = self._column(key)
        return [every[column] for every in self._param_dtypes]

    @constant
    def _column(self, key) -> int:
        """The column for the dtypes of the inputs: one, None or several of each. Kept for later
        calls, but those of a tracer, whose guards would hold it against them."""
        given = [
            each if isinstance(each, tuple) else () if each is None else (each,) for each in key
        ]
        names = [[name_of(dtype) for dtype in dtypes] for dtypes in given]
        column = _core.select_gradient_column(self._op._core, names)
        dtypes = [every[column] for every in self._param_dtypes]
        as_given = all(
            each is due for every, due in zip(given, dtypes, strict=True) for each in every
        )
        self._columns[key] = None if as_given else dtypes
        return column

    def _fitted(self, grad, spec, index):
        shape, dtype = spec
        if grad.shape != shape:
            raise _errors.make(
                "GR005",
                f"{self._op.name}: the gradient of input {self._op.definition.inputs[index].name} "
                f"by {self._backward_name} has shape {list(grad.shape)}, {list(shape)} is due",
            )
        return _cast(grad, dtype)


def _listed(specs) -> list:
    """The specs of an input: of a list, of one tensor, or of an absent one."""
    return specs if isinstance(specs, list) else [] if specs is None else [specs]


def _first(tensors) -> torch.Tensor:
    return next(t for t in tensors if t is not None)


def _cast(tensor, dtype):
    return tensor if tensor is None or tensor.dtype is dtype else tensor.to(dtype)
