# SPDX-License-Identifier: Apache-2.0
"""A recording that an exception ends. MindSpore forgets to end it: the next gradient of a compiled
function would be taken for one inside of it, and asked for the gradients of everything."""

from __future__ import annotations

import functools

from mindspore.graph.api import _pynative_executor
from mindspore.ops.composite import base
from mindspore.ops.function.grad import grad_func


def end_with_exceptions() -> None:
    plain = base._pynative_func_grad_forward

    @functools.wraps(plain)
    def forward(*args, **kwargs):
        is_outermost = not _pynative_executor.grad_flag()
        try:
            return plain(*args, **kwargs)
        except BaseException:
            if is_outermost:
                _pynative_executor.clear_res()
            raise

    base._pynative_func_grad_forward = forward
    grad_func._pynative_func_grad_forward = forward
