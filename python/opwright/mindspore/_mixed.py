# SPDX-License-Identifier: Apache-2.0
"""Lists of several dtypes in compiled modes. MindSpore would cast their tensors to the dtype of the
first without a look, or hand them on uncast; so they are cast to the column's before."""

from __future__ import annotations

from opwright import _core
from opwright.mindspore import _abstract, _inputs
from opwright.mindspore._dtypes import dtype_of
from opwright.mindspore._readable import module_of

_CASTING = """
from mindspore import ops

def bind(primitive, {names}):
    def call({inputs}):
        return primitive({given})
    return call
"""


def casting(operator, primitive, arguments):
    """The primitive for these arguments of __infer__, or a function that casts their lists."""
    definition = operator.definition
    given = list(map(_abstract.of_infer, arguments))
    mixed = [i for i, each in enumerate(given) if len({item.dtype for item in each.items}) > 1]
    if not mixed:
        return primitive
    _inputs.check(definition, given)
    column = _core.select_column(operator._core, list(map(_abstract.dtype_names, given)))
    inputs = [f"x{i}" for i in range(len(given))]
    texts = [
        f"[ops.cast(each, dtype{i}) for each in {name}]" if i in mixed else name
        for i, name in enumerate(inputs)
    ]
    text = _CASTING.format(
        names=", ".join(f"dtype{i}" for i in mixed),
        inputs=", ".join(inputs),
        given=", ".join(texts),
    )
    dtypes = [dtype_of(definition.inputs[i].dtypes[column]) for i in mixed]
    return module_of(text).bind(primitive, *dtypes)
