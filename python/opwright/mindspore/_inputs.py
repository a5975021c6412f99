# SPDX-License-Identifier: Apache-2.0
"""What is given for the inputs of one of our operators, before MindSpore reads it."""

from __future__ import annotations

from opwright import _errors
from opwright._definition import DYNAMIC, OPTIONAL
from opwright.mindspore._abstract import Abstract

_LISTS = ("tuple", "list")
_WORDS = {"str": "a text", "dict": "a dict", "tuple": "a tuple", "list": "a list"}


def refuse_written(definition) -> None:
    """CL023 for an operator that writes inputs."""
    if definition.mutates:
        raise _errors.make("CL023", written_words(definition))


def written_words(definition) -> str:
    names = [definition.inputs[i].name for i in definition.mutates]
    return (
        f"{definition.name} writes its input{'' if len(names) == 1 else 's'} {', '.join(names)}, "
        "which MindSpore does not see: compiled modes drop or move the call, and gradients are of "
        "what was there before; make what is written an output and assign it (self.s = op(...)), "
        "or call the operator on numpy arrays or tensors of torch"
    )


def check_count(definition, count: int) -> None:
    """CL001 for another number of inputs than the metadef lists."""
    if count == len(definition.inputs):
        return
    names = ", ".join(param.name for param in definition.inputs)
    attrs = [attr.name for attr in definition.attrs]
    hint = (
        f". {', '.join(attrs)}: add_prim_attr or reg_info sets an attribute, or call "
        f"opwright.load(...).{definition.name}(..., {attrs[0]}=value)"
        if attrs and count > len(definition.inputs)
        else ""
    )
    raise _errors.make(
        "CL001",
        f"{definition.name}: {count} inputs given, the metadef lists {len(definition.inputs)} "
        f"({names}); None stands for an optional one{hint}",
    )


def check(definition, given: list[Abstract]) -> None:
    """CL001 or CL013 for the first that is no tensor, number or list of tensors where one is
    due."""
    for param, each in zip(definition.inputs, given, strict=True):
        if each.kind in _LISTS:
            check_list(definition.name, param, each)
        elif param.kind == DYNAMIC:
            raise _errors.make(
                "CL001", f"{definition.name}: input {param.name} takes a list of tensors"
            )
        elif each.kind in _WORDS:
            raise _no_tensor(definition.name, param, each)
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
        raise _no_tensor(name, param, given)
    if not given.items:
        raise _errors.make(
            "CL001", f"{name}: the list {param.name} is empty, one tensor or more are due"
        )
    for index, each in enumerate(given.items):
        if each.kind != "tensor":
            raise _errors.make(
                "CL001", f"{name}: {param.name}[{index}] is {_words(each)}, a tensor is due"
            )


def _no_tensor(name: str, param, each: Abstract):
    return _errors.make(
        "CL013",
        f"{name}: input {param.name} is given {each.kind}, a tensor or a number is due",
    )


def _words(each: Abstract) -> str:
    if each.kind == "number":
        return f"the number {each.value}"
    # Compiled modes have None for what is neither.
    return _WORDS.get(each.kind, "None, or of another framework, which mindspore.Tensor converts")
