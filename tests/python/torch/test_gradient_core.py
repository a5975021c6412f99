# SPDX-License-Identifier: Apache-2.0
"""The gradient by PyTorch's adapter and the one by the core: two programs, the same bits.

The core's own (src/runtime/gradient.cc) is what MindSpore's bridge and `opwright check` run.
"""

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from calls import WITH_GRADIENT, Case, draw, fused, linear, scattered, tensors
from operator_libraries import write_operator
from test_columns import METADEFS, SOURCE

import opwright
from opwright.torch._bound import _view  # numpy lacks bfloat16

sys.path.append(str(Path(opwright.__file__).parents[1] / "tests/python"))  # of the build tree
from core_gradient import call_gradient


def half(*shape):
    return draw(*shape, dtype=torch.float16)


def brain(*shape):
    return draw(*shape, dtype=torch.bfloat16)


def single(*shape):
    return draw(*shape, dtype=torch.float32)


MIXED = [
    Case(
        "fused_broadcast", "fused_broadcast", lambda: (half(4, 3), single(3), single(4, 1)), fused
    ),
    Case("fused_broadcast", "fused_broadcast", lambda: (single(3), half(2, 3), draw(1)), fused),
    Case("fused_broadcast", "fused_broadcast", lambda: (brain(2, 3), half(3), half()), fused),
    Case("fused_broadcast", "fused_broadcast", lambda: (draw(0, 3), draw(3), draw()), fused),
    Case("inputs", "linear", lambda: (single(3, 4), draw(4, 5), single(5)), linear),
    Case("inputs", "linear", lambda: (draw(3, 4), single(4, 5), None), linear),
    Case("inputs", "sum_all", lambda: ([single(4), draw(4)], single(4)), None),
    Case("effects", "probe", lambda: (single(3), draw(3), draw(3)), None),
    Case("elementwise", "square", lambda: (half(5),), None),
    Case("elementwise", "square", lambda: (brain(5),), None),
]


def groups(value):
    """A list of tensors for each input or output."""
    return [list(v) if isinstance(v, list) else [] if v is None else [v] for v in value]


def arrays(value):
    return [[_view(t) for t in group] for group in value]


def bits(tensor):
    return (
        tensor.shape,
        tensor.dtype,
        tensor.detach().contiguous().flatten().view(torch.uint8).tolist(),
    )


def subsets(items):
    return [s for n in range(1, len(items) + 1) for s in itertools.combinations(items, n)]


def compare(op, inputs, attrs, wanted, used, spread):
    """wanted: the inputs that are due a gradient; used: the outputs whose gradient is known."""
    given = groups(inputs)
    for i, group in enumerate(given):
        for k, tensor in enumerate(group):
            group[k] = tensor.detach().requires_grad_(i in wanted)
    made = op(
        *[
            group if isinstance(value, list) else group[0] if group else None
            for group, value in zip(given, inputs, strict=True)
        ],
        **attrs,
    )
    outputs = groups(made if isinstance(made, tuple) else (made,))
    cotangents = [
        [spread(draw(*t.shape).to(t.dtype)) for t in group] if i in used else []
        for i, group in enumerate(outputs)
    ]
    leaves = [t for i in wanted for t in given[i]]
    ours = torch.autograd.grad(
        [t for i in used for t in outputs[i]],
        leaves,
        [t for group in cotangents for t in group],
        allow_unused=True,
    )
    grads = [
        [torch.empty_like(t, requires_grad=False) for t in group] if i in wanted else []
        for i, group in enumerate(given)
    ]
    call_gradient(
        op._core, arrays(given), arrays(outputs), attrs, arrays(cotangents), arrays(grads)
    )
    cores = [t for i in wanted for t in grads[i]]
    assert [bits(t) for t in ours] == [bits(t) for t in cores]


SPREADS = [
    lambda t: t,
    scattered,
    lambda t: t.flatten()[:1].squeeze().expand(t.shape) if t.numel() else t,
]


@pytest.mark.parametrize("spread", SPREADS, ids=["dense", "strided", "expanded"])
@pytest.mark.parametrize("case", [*WITH_GRADIENT, *MIXED], ids=str)
def test_the_adapters_gradient_is_the_cores_bit_for_bit(libraries, case, spread):  # G04 G05 D07
    op = libraries(case.group)[case.operator]
    inputs = case.inputs()
    inputs = (*inputs, *[None] * (len(op.definition.inputs) - len(inputs)))
    outputs = op(*inputs, **case.attrs)
    floats = [i for i, group in enumerate(groups(inputs)) if group and group[0].is_floating_point()]
    out_floats = [
        i
        for i, group in enumerate(groups(outputs if isinstance(outputs, tuple) else (outputs,)))
        if group[0].is_floating_point()
    ]
    assert tensors(outputs)
    due = op.definition.gradient.outputs
    for wanted in subsets([i for i in floats if i in due]):
        for used in subsets(out_floats):
            compare(op, inputs, case.attrs, wanted, used, spread)


def refusal(call):
    with pytest.raises(opwright.GradientError) as caught:
        call()
    return caught.value


def test_both_refuse_what_has_no_gradient(libraries, tmp_path):
    op = libraries("element_add").element_add
    x = single(3)
    ours = refusal(lambda: op(x.requires_grad_(), x).sum().backward())
    cores = refusal(lambda: call_gradient(op._core, [[], []], [[]], {}, [[]], [[], []]))
    assert ours.code == cores.code == "GR001"

    # Its backward operator gives no gradient for w.
    op = opwright.load(write_operator(tmp_path / "telling", METADEFS, SOURCE)).telling
    x, w = single(2), single(2)
    y = op(x, w)
    ours = refusal(lambda: op(x, w.requires_grad_()).sum().backward())
    given, made = arrays([[x], [w.detach()]]), arrays([[y]])
    grads = arrays([[], [torch.empty(2)]])
    cores = refusal(lambda: call_gradient(op._core, given, made, {}, made, grads))
    assert ours.code == cores.code == "GR002"
    assert str(ours).startswith(str(cores).removesuffix(" [GR002]"))


def test_a_wrong_number_of_groups_is_refused(libraries):
    op = libraries("elementwise").square
    with pytest.raises(opwright.ShapeError, match="0 inputs given, 1 are due"):
        call_gradient(op._core, [], [[]], {}, [[]], [[]])


def test_the_core_holds_a_gradient_against_its_output(libraries):
    product = libraries("second").product
    a = np.ones(4)
    with pytest.raises(opwright.ShapeError, match=r"gradient of output y has shape \[0\], \[4\]"):
        call_gradient(
            product._core, [[a], [a]], [[a]], {}, [[np.ones(0)]], [[a.copy()], [a.copy()]]
        )
