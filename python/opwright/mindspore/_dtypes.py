# SPDX-License-Identifier: Apache-2.0
"""dtypes by name, as MindSpore's type objects."""

from __future__ import annotations

from mindspore.common import dtype as mstype


def dtype_of(name: str):
    """ "float32" -> mindspore.float32"""
    return mstype.bool_ if name == "bool" else getattr(mstype, name)


def tensor_type_of(name: str):
    """What __infer__ returns: with a plain dtype a 0-d result would become a Python number."""
    return mstype.TensorType(dtype_of(name))
