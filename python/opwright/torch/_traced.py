# SPDX-License-Identifier: Apache-2.0
"""What the compiler of PyTorch sees: what is constant to it, and which compiled functions hold an
operator, as a rule bound to it has them compiled anew."""

from __future__ import annotations

import sys
from types import CodeType
from weakref import WeakValueDictionary

# By an operator's key, the code of each function that was compiled with it, by id: codes that are
# equal are still compiled apart. Read and written under the compiler's lock.
_codes: dict[int, WeakValueDictionary[int, CodeType]] = {}


def constant(function):
    """What torch.compiler.assume_constant_result does, without importing the compiler now: a tracer
    calls the function with what it takes, which are constants, and keeps the result."""
    function._dynamo_marked_constant = True
    return function


def keep_every_call(overload) -> None:
    """Compiled graphs drop calls without use and make one of equal calls; not of this operator."""
    from torch._higher_order_ops.effects import _EffectType, _register_effectful_op

    _register_effectful_op(overload, _EffectType.ORDERED)


def note(key: int) -> None:
    """The operator is traced: by the compiler, or by a call without data, which keeps nothing."""
    symbolic_convert = sys.modules.get("torch._dynamo.symbolic_convert")
    tracer = getattr(getattr(symbolic_convert, "tls", None), "current_tx", None)
    if tracer is not None:
        code = tracer.output.root_tx.f_code
        _codes.setdefault(key, WeakValueDictionary())[id(code)] = code


def forget(key: int) -> None:
    """What is compiled with the operator is compiled anew at its next call."""
    if key not in _codes:
        return
    from torch._dynamo.convert_frame import compile_lock
    from torch._dynamo.eval_frame import reset_code

    with compile_lock:  # a compilation on another thread ends first
        for code in list(_codes[key].values()):
            reset_code(code)
