# SPDX-License-Identifier: Apache-2.0
"""opwright.mindspore.op"""

from __future__ import annotations

import os

import mindspore as ms

from opwright import _errors
from opwright._library import pick
from opwright._operator import Operator
from opwright.mindspore._inputs import refuse_written


def op(operator: Operator | str | os.PathLike, name: str | None = None, *, bprop=None) -> Operator:
    """An operator for MindSpore, from an operator or the path of a library or operator folder.

    `name` picks one of a library; a library with one forward operator needs none. `bprop` binds a
    Python rule for its gradient (see `Operator.bprop`).
    """
    found = pick(operator, name, None)
    refuse_written(found.definition)
    return pick(found, None, bprop)


@ms.constexpr
def _refuse_in_graph():
    raise _errors.make(
        "CL021",
        "opwright.mindspore.op was called while MindSpore compiles; make the operator outside of "
        "ms.jit and construct, in the module or in __init__, and call it inside",
    )


def _in_graph(operator: Operator | str | os.PathLike, name: str | None = None, *, bprop=None):
    return _refuse_in_graph()


op.__wrapped__ = _in_graph  # which MindSpore's compiler reads
