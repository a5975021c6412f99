# SPDX-License-Identifier: Apache-2.0
"""Compiled functions hold the rules and attributes that there were when they were compiled: they go
when there are others. MindSpore does not say which of them hold which operator, so all of them do;
none for an operator that no graph has met."""

from __future__ import annotations

import gc

from mindspore.graph import api

_executor = api._pynative_executor
# Operators' numbers and, of each Custom, its mark.
_met: set[object] = set()


def meet(mark: object, operator) -> None:
    """A graph is compiled with a Custom, its operator and the gradients of its gradient."""
    found = {mark}
    while operator is not None and operator.key not in found:
        found.add(operator.key)
        operator = operator.backward
    _met.update(found)


def forget(key: object) -> None:
    """A rule was bound to the operator, or the Custom has another attribute."""
    if key not in _met:
        return
    _met.clear()
    api.ms_compile_cache.clear()
    for compiled in api.cells_compile_cache.values():
        compiled.clear()
    _forget_bytecode()
    if _executor.grad_flag():
        _forget_gradients_later()
    else:
        _executor.clear_res()


def _forget_bytecode() -> None:
    """What ms.jit(capture_mode="bytecode") compiled, of which MindSpore has no list."""
    try:
        from mindspore._c_expression import clear_jit_compile_results
        from mindspore.graph._utils import pijit_context
    except ImportError:  # of another version; the mode is rare
        return
    if getattr(pijit_context, "SKIP_RULES", None):  # which the first of its contexts takes away
        return
    for each in gc.get_objects():
        if type(each) is pijit_context.PIJitCaptureContext:
            function = getattr(each, "fn", None)
            if function is not None:
                clear_jit_compile_results(function)


def _forget_gradients_later() -> None:
    """clear_res, which alone drops the gradients of compiled functions, drops what PyNative mode is
    recording as well: it waits for the next record, of which check_run is the start."""
    plain = type(_executor).check_run

    def check_run(*args, **kwargs):
        found = plain(_executor, *args, **kwargs)
        is_recorded = found[0]
        if not is_recorded and not _executor.grad_flag():
            del _executor.check_run
            _executor.clear_res()
        return found

    _executor.check_run = check_run
