# SPDX-License-Identifier: Apache-2.0
"""The bprop that MindSpore is given, around the user's rule or the compiled backward operator.

Compiled modes want a function in a file with as many parameters as there are inputs, so its text is
written for each number of inputs, and once only (_readable.module_of).
"""

from __future__ import annotations

import mindspore as ms
from mindspore import ops

from opwright.mindspore._readable import module_of
from opwright.mindspore._verdict import CAST, COPY, KEEP, ZEROS, IsCompiled

_is_compiled = IsCompiled()

_RULE = """
def bind(rule, verdict, settle):
    def bprop({inputs}out, dout):
        grads = rule({inputs}out, dout)
        what = verdict(grads, {inputs}out)
        return ({settled})
    return bprop
"""

_REFUSAL = """
def bind(refuse, zeros):
    def bprop({inputs}out, dout):
        refuse({inputs}out, dout)
        return ({settled})
    return bprop
"""

_COMPILED = """
def bind(backward, present, fit, zeros{lacking}):
    def bprop({inputs}out, dout):
        grads = backward({arguments})
        return ({settled})
    return bprop
"""


_NOTHING = """
def bind(zeros):
    def bprop({inputs}out, dout):
        return ({settled})
    return bprop
"""

_SECOND = """
def bind(rule, fit, zeros):
    def bprop({inputs}out, dout):
        grads = rule({picked}, {out}, {dout})
        return ({settled})
    return bprop
"""

_OF_ONE = """
def bind(inner, bare):
    def bprop({inputs}out, dout):
        return inner({inputs}bare(out), bare(dout))
    return bprop
"""


def _names(count: int) -> list[str]:
    return [f"x{i}" for i in range(count)]


def _inputs(count: int) -> str:
    return "".join(f"{name}, " for name in _names(count))


def zeros(x):
    """For what has no gradient: an integer tensor, a list of them, a Python number."""
    if isinstance(x, ms.Tensor):
        # PyNative mode adds the gradients of what is used twice, but no bools; it takes None for
        # zeros. Graphs take no None, and drop what nobody asks for.
        if x.dtype == ms.bool_ and not _is_compiled():
            return None
        return ops.zeros_like(x)
    if isinstance(x, (list, tuple)):
        return [ops.zeros_like(each) for each in x]
    return x


def settler(reduce):
    """settle(what, gradient, input): what the verdict has found is to be done."""

    def settle_one(what, grad, x):
        if what == KEEP:
            return grad
        if what == ZEROS:
            return zeros(x)
        if what == CAST:
            return ops.cast(grad, x.dtype)
        if what == COPY:
            return grad * 1
        return reduce(grad, x)

    def settle(what, grad, x):
        if isinstance(what, tuple):  # of a list
            return [settle_one(what[k], grad[k], x[k]) for k in range(len(what))]
        return settle_one(what, grad, x)

    return settle


def around_rule(rule, count: int, verdict, settles):
    """settles: a settler for each input."""
    text = _RULE.replace("settle)", "".join(f"settle{i}, " for i in range(count)) + ")", 1)
    settled = "".join(f"settle{i}(what[{i}], grads[{i}], x{i}), " for i in range(count))
    module = module_of(text.format(inputs=_inputs(count), settled=settled))
    return module.bind(rule, verdict, *settles)


def _all_zeros(text: str, count: int):
    settled = "".join(f"zeros({name}), " for name in _names(count))
    return module_of(text.format(inputs=_inputs(count), settled=settled))


def refusal(count: int, refuse):
    return _all_zeros(_REFUSAL, count).bind(refuse, zeros)


def present(x):
    """MindSpore takes no None in a gradient: a text stands for an absent input."""
    if x is None:
        return "absent"
    return x


def fit(grad, x):
    if not isinstance(x, ms.Tensor):
        return x
    if grad.dtype == x.dtype:
        return grad
    return ops.cast(grad, x.dtype)


def _absent_or(refuse):
    """Of an optional input that the backward operator gives no gradient for."""

    def settle(x):
        if x is not None:
            refuse(x)
        return zeros(x)

    return settle


def around_backward(
    backward, count: int, arguments: list[str], given: list[int], lists: set[int], lacking: dict
):
    """arguments: of the backward call, as output_texts and input_texts write them; given: the input
    that each of its results is the gradient of, or that list of results; lacking: what refuses a
    gradient, by optional input."""
    grads = {i: f"lacking{i}(x{i})" for i in lacking}
    start = "0"
    for i in given:
        if i in lists:
            grads[i] = f"list(grads[{start}:{start} + len(x{i})])"
            start += f" + len(x{i})"
        else:
            grad = "grads" if len(given) == 1 else f"grads[{start}]"
            grads[i] = f"fit({grad}, x{i})"
            start += " + 1"
    settled = "".join(f"{grads.get(i, f'zeros(x{i})')}, " for i in range(count))
    text = _COMPILED.format(
        inputs=_inputs(count),
        arguments=", ".join(arguments),
        settled=settled,
        lacking="".join(f", lacking{i}" for i in lacking),
    )
    return module_of(text).bind(backward, present, fit, zeros, *map(_absent_or, lacking.values()))


def nothing(count: int):
    """Zeros: no gradient comes through an operator whose outputs are all integers."""
    return _all_zeros(_NOTHING, count).bind(zeros)


def around_second(rule, count: int, places: list[int], order: list[int]):
    """The bprop of a gradient of `count` inputs from the rule of the backward operator: places, of
    each of the backward operator's inputs; order, of its outputs among the gradient's."""
    names = _names(count)
    picked = ", ".join(names[place] for place in places)

    def outs(name):
        if len(order) == 1:
            return name
        return "(" + "".join(f"{name}[{k}], " for k in order) + ")"

    def settled(place):
        found = [f"grads[{k}]" for k, each in enumerate(places) if each == place]
        name = names[place]
        return f"fit({' + '.join(found)}, {name}), " if found else f"zeros({name}), "

    text = _SECOND.format(
        inputs=_inputs(count),
        picked=picked,
        out=outs("out"),
        dout=outs("dout"),
        settled="".join(map(settled, range(count))),
    )
    return module_of(text).bind(rule, fit, zeros)


def _bare(value):
    if isinstance(value, tuple):
        return value[0]
    return value


def of_one(bprop, count: int):
    """The bprop for an operator whose output may be in a tuple of one."""
    return module_of(_OF_ONE.format(inputs=_inputs(count))).bind(bprop, _bare)


def input_texts(count: int) -> list[str]:
    return [f"present({name})" for name in _names(count)]


def output_texts(name: str, count: int) -> list[str]:
    """Of out or dout, which are tuples where there are several outputs."""
    return [name] if count == 1 else [f"{name}[{k}]" for k in range(count)]


_WITH_ATTRS = """
def bind(rule, attrs):
    def bprop(*arguments):
        return rule(*arguments, **attrs)
    return bprop
"""


def with_attrs(rule, attrs: dict):
    """The rule with the attributes that it takes by keyword."""
    return module_of(_WITH_ATTRS).bind(rule, attrs)
