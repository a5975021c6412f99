# SPDX-License-Identifier: Apache-2.0
"""What is given for the inputs of one of our operators, before MindSpore reads it."""

from __future__ import annotations

from opwright import _errors
from opwright._definition import DYNAMIC, OPTIONAL
from opwright.mindspore._abstract import Abstract

_LISTS = ("tuple", "list")
_WORDS = {"str": "a text", "dict": "a dict", "tuple": "a tuple", "list": "a list"}


def check(definition, given: list[Abstract]) -> None:
    """CL001 for the first that is no tensor, number or list of tensors where one is due."""
    for param, each in zip(definition.inputs, given, strict=True):
        if each.kind in _LISTS:
            check_list(definition.name, param, each)
        elif each.kind in _WORDS:
            raise _errors.make(
                "CL001",
                f"{definition.name}: input {param.name} is {_words(each)}, a tensor is due",
            )
        elif each.kind not in ("tensor", "number") and not _is_absent(param, each):
            raise _errors.make(
                "CL001",
                f"{definition.name}: input {param.name} is required and was not given: it is "
                f"{_words(each)}",
            )


def _is_absent(param, each: Abstract) -> bool:
    return each.kind == "none" and param.kind == OPTIONAL


def check_list(name: str, param, given: Abstract) -> None:
    """MindSpore ends the process, or differentiates wrongly, where a list holds anything else."""
    if param.kind != DYNAMIC:
        return
    if not given.items:
        raise _errors.make(
            "CL001", f"{name}: the list {param.name} is empty, one tensor or more are due"
        )
    for index, each in enumerate(given.items):
        if each.kind != "tensor":
            raise _errors.make(
                "CL001", f"{name}: {param.name}[{index}] is {_words(each)}, a tensor is due"
            )


def _words(each: Abstract) -> str:
    if each.kind == "number":
        return f"the number {each.value}"
    # Compiled modes have None for what is neither.
    return _WORDS.get(each.kind, "None, or of another framework, which mindspore.Tensor converts")
