# SPDX-License-Identifier: Apache-2.0
"""What PyNative mode records: the end that MindSpore forgets, and records inside of records."""

from __future__ import annotations

import functools

from mindspore import Parameter
from mindspore.graph.api import _pynative_executor
from mindspore.ops.composite import base
from mindspore.ops.function.grad import grad_func

_depth = 0  # records that are under way, one inside of another


def watch() -> None:
    """After a recording that an exception ends, the next gradient of a compiled function would be
    taken for one inside of it, and asked for the gradients of everything."""
    plain = base._pynative_func_grad_forward

    @functools.wraps(plain)
    def forward(*args, **kwargs):
        global _depth
        is_outermost = not _pynative_executor.grad_flag()
        _depth += 1
        try:
            return plain(*args, **kwargs)
        except BaseException:
            if is_outermost:
                _pynative_executor.clear_res()
            raise
        finally:
            _depth -= 1

    base._pynative_func_grad_forward = forward
    grad_func._pynative_func_grad_forward = forward


def inputs_of(inputs: tuple) -> tuple:
    """As a primitive with a bprop in Python takes them. A Parameter that it is given in a record
    inside of another has no second derivative in MindSpore; what is computed of it has."""
    return inputs if _depth < 2 else tuple(map(_computed, inputs))


def _computed(value):
    if isinstance(value, Parameter):
        return value * 1 if value.dtype.is_floating_point else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(_computed, value))
    return value
