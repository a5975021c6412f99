# SPDX-License-Identifier: Apache-2.0
"""Whose tensors the arguments of a call are, told by their types: no framework is imported."""

from __future__ import annotations

from opwright import _errors
from opwright._hooks import ADAPTERS

# The first part of the name of a tensor type's module.
_KNOWN = {"numpy", *ADAPTERS}
_NOT_YET = {"tensorflow", "jax", "jaxlib"}


def _tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, (int, float)):  # numpy's float64 is one
            continue
        elif stands_for_torch(type(value)) or (hasattr(value, "shape") and hasattr(value, "dtype")):
            yield value  # no dtype of theirs


def stands_for_torch(kind: type) -> bool:
    """Whether PyTorch takes what is of this type for a tensor: one, a tracer's, a user's."""
    return hasattr(kind, "__torch_function__")


def framework_of(name: str, args, kwargs) -> tuple[str, type | None]:
    """The framework of the tensors and the type of one of them; CL013 when they are of several."""
    found, kind = None, None
    for value in _tensors((*args, *kwargs.values())):
        root = _root_module(type(value))
        if not root:
            continue
        if found is not None and root != found:
            raise _errors.make(
                "CL013",
                f"{name}: tensors of {found} and {root} in one call; convert them to one framework",
            )
        found, kind = root, type(value)
    if found in _NOT_YET:
        raise _errors.make(
            "CL013",
            f"{name}: tensors of {found} are not taken yet; use numpy arrays or tensors of "
            f"{' or '.join(ADAPTERS)}",
        )
    return found or "numpy", kind


def _root_module(kind: type) -> str:
    for base in kind.__mro__:
        root = base.__module__.split(".", 1)[0]
        if root in _KNOWN or root in _NOT_YET:
            return root
    return "torch" if stands_for_torch(kind) else ""
