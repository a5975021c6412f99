# SPDX-License-Identifier: Apache-2.0
"""The gradient of an operator in MindSpore: a Python rule, the compiled backward operator, or a
refusal in words; alike in every mode."""

from __future__ import annotations

import functools
import inspect
from typing import NamedTuple

from mindspore import nn, ops

from opwright import _bprop, _errors
from opwright._definition import DYNAMIC, OPTIONAL, ROLE_GRAD, ROLE_INPUT, ROLE_OUTPUT
from opwright.mindspore import _bridge, _wrap
from opwright.mindspore._inputs import written_words
from opwright.mindspore._readable import readable
from opwright.mindspore._returns import refuse_unlike
from opwright.mindspore._shared import forms_of
from opwright.mindspore._verdict import Refuse, Verdict


class Rule(NamedTuple):
    """A user's rule as every mode takes it, and the attributes that it takes by keyword."""

    function: object
    attrs: tuple[str, ...]


def rule_of(op, given=None, of_one: bool = False) -> Rule | None:
    """The rule for one of our operators, if it has one: what is given, else what is bound.

    of_one: out and dout are tuples of one.
    """
    rule = given if given is not None else op.python_bprop
    if rule is None:
        return None
    called = _called(op.name, rule)
    _bprop.check_signature(op, called)
    outputs = op.definition.outputs
    names = _bprop.keyword_attrs(op, called)
    fixed = all(output.kind != DYNAMIC for output in outputs)
    one_output = len(outputs) == 1 and fixed and not of_one
    count = len(op.definition.inputs)
    refuse_unlike(op.name, rule, count, one_output, names)
    return Rule(readable(op.name, rule, names, count, len(outputs) if fixed else 1), names)


def _called(op: str, rule):
    """What says a rule's parameters: a Cell's __call__ takes anything."""
    if isinstance(rule, functools.partial):
        return functools.partial(_called(op, rule.func), *rule.args, **rule.keywords)
    if not isinstance(rule, nn.Cell):
        return rule
    if type(rule).construct is nn.Cell.construct:
        raise _errors.make(
            "GR007", f"{op}: the bprop, a Cell {type(rule).__name__}, has no construct"
        )
    return rule.construct


def of_operator(op, rule: Rule | None, attrs: dict):
    """The bprop of one of our operators: by a rule, or by what the operator has."""
    count = len(op.definition.inputs)
    if rule is not None:
        function = rule.function
        forms = forms_of(function, count)
        if rule.attrs:
            values = {attr.name: attr.default for attr in op.definition.attrs} | attrs
            function = _wrap.with_attrs(function, _bprop.picked_attrs(values, rule.attrs))
        return _checked(
            op.name,
            function,
            tuple(param.name for param in op.definition.inputs),
            tuple(op.definition.wide_output(i) for i in range(count)),
            forms,
        )
    if all(_is_constant(param) for param in op.definition.outputs):
        return _wrap.nothing(count)
    if op.backward is None:
        return _wrap.refusal(count, Refuse(op.name, "GR001", op._core.no_gradient))
    return _compiled(op, attrs)


def of_function(name: str, rule, outputs: int):
    """The bprop of what is not ours, and the number of inputs, which only the rule says.

    outputs: how many are declared; 1 where that is not known yet.
    """
    count = _inputs_of(name, rule)
    names = tuple(str(i) for i in range(count))
    refuse_unlike(name, rule, count, False)
    function = readable(name, rule, (), count, outputs)
    forms = forms_of(function, count)
    return _checked(name, function, names, (None,) * count, forms), count


def _inputs_of(name: str, rule) -> int:
    """How many inputs a rule is for: its parameters but out and dout."""
    _bprop.refuse_no_function(name, rule)
    called = _called(name, rule)
    try:
        parameters = list(inspect.signature(called).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise _errors.make(
            "GR007",
            f"{name}: the bprop takes *{parameters[-1].name}, which compiled modes cannot; write "
            "its parameters out: def bprop(x, y, out, dout)",
        )
    due = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    if len(due) < 2:
        words = ", ".join(p.name for p in due) or "nothing"
        raise _errors.make(
            "GR007",
            f"{name}: the bprop takes ({words}); due are the inputs, out and dout: "
            "def bprop(x, out, dout)",
        )
    _bprop.refuse_other_order(name, called, [""] * (len(due) - 2))
    return len(due) - 2


def refusal(name: str, count: int):
    return _wrap.refusal(count, Refuse(name, "GR001", f"{name} has no gradient; give bprop="))


def _is_constant(param) -> bool:
    """Whether it is of integers in every column: nothing is differentiated by it."""
    return not any("float" in dtype or "complex" in dtype for dtype in param.dtypes)


def _checked(
    name: str,
    rule,
    names: tuple[str, ...],
    wide: tuple[int | None, ...],
    forms: tuple[tuple | None, ...],
):
    verdict = Verdict(name, names, wide, forms)
    settles = [
        _wrap.settler(_reduction(name, each, output is not None))
        for each, output in zip(names, wide, strict=True)
    ]
    return _wrap.around_rule(rule, len(names), verdict, settles)


def _reduction(op: str, name: str, sums: bool) -> _bridge.Like:
    """(gradient, input) -> the gradient in the input's shape and dtype: summed where the input was
    broadcast, else checked. Shapes that are unknown while compiling are judged here."""

    def spread(grad, x, out, dout):
        return (ops.cast(ops.broadcast_to(dout, ops.shape(grad)), grad.dtype), ops.zeros_like(x))

    made = _bridge.Like("opwright_reduce", (1,), 0, spread)
    made.add_prim_attr("opwright_operator", op)
    made.add_prim_attr("opwright_input", name)
    made.add_prim_attr("opwright_sums", int(sums))
    return made


def _compiled(op, attrs: dict):
    """The whole gradient as one kernel call: opwright_gradient takes the inputs, the outputs that
    the backward operator takes, and the gradients of all outputs; it gives the gradients that the
    backward operator has, in the order of the inputs."""
    definition, backward = op.definition, op.backward
    given = sorted(definition.gradient.outputs)
    count, num_outputs = len(definition.inputs), len(definition.outputs)
    if backward.definition.mutates:
        words = written_words(backward.definition)
        return _wrap.refusal(count, Refuse(op.name, "CL023", f"{op.name}: its gradient: {words}"))
    lists = {i for i, param in enumerate(definition.inputs) if param.kind == DYNAMIC}
    lacking = {}
    for i, param in enumerate(definition.inputs):
        if i in given or (i not in lists and _is_constant(param)):
            continue
        words = (
            f"{op.name}: the backward operator {backward.name} gives no gradient for input "
            f"{param.name}, and MindSpore does not say that none is asked for; add it, zeros where "
            "there is none, or give bprop="
        )
        lacking[i] = Refuse(op.name, "GR002", words)
        if param.kind != OPTIONAL:
            return _wrap.refusal(count, lacking[i])
    made = _bridge.Like(
        "opwright_gradient", tuple(given), op._core.token, _second(op, attrs, given), bool(lists)
    )
    kinds = {attr.name: attr.type for attr in definition.attrs}
    for name, value in attrs.items():
        made.add_prim_attr(f"opwright.{name}", _bridge.encode(kinds[name], value))
    out = _wrap.output_texts("out", num_outputs)
    arguments = [
        *_wrap.input_texts(count),
        *(out[index] for index in definition.gradient.taken(ROLE_OUTPUT)),
        *_wrap.output_texts("dout", num_outputs),
    ]
    return _wrap.around_backward(made, count, arguments, given, lists, lacking)


def _second(op, attrs: dict, given: list[int]):
    """The bprop of the gradient: that of the backward operator, by its roles; else a refusal."""
    backward, definition = op.backward, op.definition
    # The places of the gradient's inputs: forward inputs, outputs, gradients of the outputs.
    places = [(ROLE_INPUT, index) for index in range(len(definition.inputs))]
    places += [(ROLE_OUTPUT, index) for index in definition.gradient.taken(ROLE_OUTPUT)]
    places += [(ROLE_GRAD, index) for index in range(len(definition.outputs))]
    has_lists = any(param.kind == DYNAMIC for param in definition.inputs)
    if has_lists or (backward.backward is None and backward.python_bprop is None):
        words = (
            f"{op.name}: its backward operator {backward.name} has no gradient"
            f"{' in MindSpore, as an input is a list' if has_lists else ''}; a second derivative, "
            "or a jvp, was asked for"
        )
        return _wrap.refusal(len(places), Refuse(op.name, "GR021", words))
    names = {attr.name for attr in backward.definition.attrs}
    rule = of_operator(
        backward,
        rule_of(backward),
        {name: value for name, value in attrs.items() if name in names},
    )
    picked = [places.index((role, index)) for role, index in definition.gradient.inputs]
    order = [given.index(i) for i in definition.gradient.outputs]
    return _wrap.around_second(rule, len(places), picked, order)
