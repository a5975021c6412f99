# SPDX-License-Identifier: Apache-2.0
"""opwright.mindspore.op"""

from __future__ import annotations

import os

from opwright._library import pick
from opwright._operator import Operator


def op(operator: Operator | str | os.PathLike, name: str | None = None, *, bprop=None) -> Operator:
    """An operator for MindSpore, from an operator or the path of a library or operator folder.

    `name` picks one of a library; a library with one forward operator needs none. `bprop` binds a
    Python rule for its gradient (see `Operator.bprop`).
    """
    return pick(operator, name, bprop)
