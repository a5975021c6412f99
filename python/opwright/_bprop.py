# SPDX-License-Identifier: Apache-2.0
"""The contract of a Python bprop, the same in every framework: how it is called, what it owes."""

from __future__ import annotations

import copy
import functools
import inspect
from typing import NamedTuple

from opwright import _errors


class Due(NamedTuple):
    """What one input is due. shape may hold symbols; dtype is the framework's own."""

    name: str
    needed: bool
    shape: tuple
    dtype: object
    # The output's shape where broadcast(...) names the input: so large a gradient is summed.
    wide: tuple | None
    is_complex: bool = False


def keyword_attrs(op, rule) -> tuple[str, ...]:
    """The attributes that the rule takes by keyword."""
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        return ()
    names = tuple(attr.name for attr in op.definition.attrs)
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return names
    keyword = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return tuple(name for name in names if name in keyword)


def picked_attrs(values: dict, names: tuple[str, ...]) -> dict:
    """Those that a rule takes by keyword; lists are its own, and no other call sees a change."""
    return {name: copy.deepcopy(values[name]) for name in names}


def refuse_no_function(name: str, rule) -> None:
    """GR007 for what cannot be called, and for a class, whose call makes an object."""
    if isinstance(rule, type) or not callable(rule):
        what = f"the class {rule.__name__}" if isinstance(rule, type) else type(rule).__name__
        raise _errors.make("GR007", f"{name}: a bprop is a function, {what} was given")


def refuse_other_order(name: str, rule, inputs: list[str]) -> None:
    """GR007 for parameters of which the names say another order than they are given in.

    inputs: the operator's, "" for one without a name.
    """
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        return
    given = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    due = [*inputs, "out", "dout"]
    for i, parameter in enumerate(given[: len(due)]):
        if parameter in due and due.index(parameter) != i:
            raise _errors.make(
                "GR007",
                f"{name}: the bprop calls its parameter {i + 1} {parameter}, and it is given "
                f"{due[i] or f'input {i + 1}'} there; write def bprop({', '.join(_named(due))})",
            )


def _named(due: list[str]) -> list[str]:
    return [each or f"x{i + 1}" for i, each in enumerate(due)]


def check_signature(op, rule) -> None:
    """GR007 when the rule cannot be called as (inputs..., out, dout)."""
    refuse_no_function(op.name, rule)
    try:
        signature = inspect.signature(rule)
    except (TypeError, ValueError):
        return
    names = [param.name for param in op.definition.inputs]
    attrs = "".join(f", {attr.name}" for attr in op.definition.attrs)
    try:
        signature.bind(*range(len(names) + 2), **dict.fromkeys(keyword_attrs(op, rule)))
    except TypeError as error:
        raise _errors.make(
            "GR007",
            f"{op.name}: the bprop {_names(rule)[2]}{signature} cannot be called "
            f"with ({', '.join(names)}, out, dout): {error}; "
            f"write def bprop({', '.join(names)}, out, dout{attrs})"
            f"{', of the attributes those that it needs' if attrs else ''}",
        ) from None
    refuse_other_order(op.name, rule, names)


def replaced(rule, bound) -> str:
    """What a rule does to the one that is bound, in words; "" where it has the same name: it is
    that rule, edited."""
    (module, whole, short), (old_module, old_whole, old_short) = map(_names, (rule, bound))
    if (module, whole) == (old_module, old_whole):
        return ""
    if short != old_short:
        return f"the rule {short} replaces {old_short}"
    if whole != old_whole:
        return f"the rule {whole} replaces {old_whole}"
    return f"the rule {module}.{whole} replaces {old_module}.{whole}"


def _names(rule) -> tuple[str, str, str]:
    """Module, qualified name and name: of a partial its function's, of an object its class's."""
    while isinstance(rule, functools.partial):
        rule = rule.func
    named = rule if hasattr(rule, "__qualname__") else type(rule)
    whole = named.__qualname__
    return str(named.__module__), whole, whole.rpartition(".")[2]


def settle(op_name: str, returned, due: list[Due], adapter) -> tuple:
    """The gradients that a rule owes, from what it returned; GR003 to GR006 when it does not.

    adapter: is_tensor(x), is_float(x), shape(x), dtype(x), cast(x, dtype), reduce(x, shape), and
    kind(x), what it is in words; is_complex(x), where an input is.
    Inputs that need none get None.
    """
    names = ", ".join(item.name for item in due)
    example = (
        f"return (grad_{due[0].name},)"
        if len(due) == 1
        else "return (" + ", ".join(f"grad_{item.name}" for item in due) + ")"
    )
    if adapter.is_tensor(returned):
        raise _errors.make(
            "GR003",
            f"{op_name}: the bprop returned a bare tensor, a tuple is due; write `{example}`",
        )
    if not isinstance(returned, tuple):
        what = "nothing" if returned is None else f"a {adapter.kind(returned)}"
        raise _errors.make(
            "GR003", f"{op_name}: the bprop returned {what}, a tuple is due; write `{example}`"
        )
    if len(returned) != len(due):
        raise _errors.make(
            "GR003",
            f"{op_name}: the bprop returned {len(returned)} "
            f"gradient{'s' if len(returned) != 1 else ''}, "
            f"{len(due)} are due, one for each input ({names}); write `{example}`",
        )
    return tuple(
        _one(op_name, grad, item, adapter) for grad, item in zip(returned, due, strict=True)
    )


def _lies_in(shape: tuple, wide: tuple) -> bool:
    """Whether it is the wide shape, or one of which some dimensions have been summed already."""
    lead = len(wide) - len(shape)
    return lead >= 0 and all(a in (1, b) for a, b in zip(shape, wide[lead:], strict=True))


def _may_be_gradient(grad, due: Due, adapter) -> bool:
    return adapter.is_float(grad) or (due.is_complex and adapter.is_complex(grad))


def _one(op_name: str, grad, due: Due, adapter):
    if not due.needed:
        return None
    if grad is None:
        raise _errors.make(
            "GR004",
            f"{op_name}: the bprop returned None for input {due.name}, which is due a gradient",
        )
    if not adapter.is_tensor(grad) or not _may_be_gradient(grad, due, adapter):
        what = (
            f"dtype {adapter.dtype(grad)}" if adapter.is_tensor(grad) else f"a {adapter.kind(grad)}"
        )
        raise _errors.make(
            "GR006",
            f"{op_name}: the bprop's gradient of input {due.name} is {what}, a float "
            f"{'or complex ' if due.is_complex else ''}tensor is due",
        )
    shape = tuple(adapter.shape(grad))
    if shape != tuple(due.shape) and due.wide is not None and _lies_in(shape, due.wide):
        grad = adapter.reduce(grad, due.shape)
        shape = tuple(adapter.shape(grad))
    if shape != tuple(due.shape):
        raise _errors.make(
            "GR005",
            f"{op_name}: the bprop's gradient of input {due.name} has shape {list(shape)}, "
            f"{list(due.shape)} is due: the input's own",
        )
    return adapter.cast(grad, due.dtype)
