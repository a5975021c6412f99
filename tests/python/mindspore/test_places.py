# SPDX-License-Identifier: Apache-2.0
"""One Custom, or one operator, at several places of one graph whose shapes are unknown.

They run in a process of their own: what MindSpore is asked wrongly ends it.
"""

import pytest

HEAD = """
import sys
import mindspore as ms
import numpy as np
import opwright
from opwright.mindspore import Custom

how, kind = sys.argv[1:]

def operator(name):
    return Custom(lib[name]) if kind == "Custom" else lib[name]

def tensor(*shape):
    return ms.Tensor(np.ones(shape))

def opened(function, *shapes):
    described = [ms.Tensor(shape=shape, dtype=ms.float64) for shape in shapes]
    if how == "jit":
        named = {n: d for n, d in zip("xyz", described) if -1 in d.shape}
        return ms.enable_dynamic(**named)(ms.jit(function))
    ms.set_context(mode=ms.GRAPH_MODE)
    class Net(ms.nn.Cell):
        def construct(self, *inputs):
            return function(*inputs)
    net = Net()
    net.set_inputs(*described)
    return net

def said(call, *inputs):
    try:
        print([each.asnumpy().tolist() for each in call(*inputs)], flush=True)
    except Exception as error:
        print(str(error).split("\\n")[0], flush=True)
"""

BESIDE_A_NUMBER = """
op = operator("fused_broadcast")

def f(x, y):
    return op(x, y, y), op(x, 2.0, 0.5)

said(opened(f, [None, 2], [2]), tensor(1, 2), tensor(2))
"""
TOO_FEW = """
op = operator("fused_broadcast")

def f(x, y):
    return op(x, y, y), op(x, y)

said(opened(f, [None, 2], [2]), tensor(1, 2), tensor(2))
"""
AT_ONE_LINE = """
op = operator("fused_broadcast")

def both(x, y, z):
    return op(x, y, z)

def f(x, y):
    return both(x, y, y), both(y, 2.0, 0.5)

said(opened(f, [None, 2], [2]), tensor(1, 2), tensor(2))
"""
OPTIONAL = """
op = operator("linear")

def f(x, y):
    return op(x, y, y[0]), op(y, y, None)

net = opened(f, [None, 2], [2, 2])
said(net, tensor(1, 2), tensor(2, 2))
"""
GRADIENTS = """
op = operator("fused_broadcast")

def loss(x, y):
    return (op(x, y, y) * op(op(x, y, y), 2.0 * y, y)).sum() + op(y, 2.0, 0.5).sum()

def f(x, y):
    return ms.grad(loss, (0, 1))(x, y)

said(opened(f, [None, 2], [2]), tensor(1, 2), tensor(2))
"""

# x = y = 1 in each element: z1 = (x + y) y = 2, z2 = (z1 + 2 y) y = 4; the loss is the sum of z1 z2
# and of (y + 2) / 2.
NUMBER_BESIDE = "tensors only: no absent input, no list, no number [CL004]"
CASES = {
    "beside a number": (BESIDE_A_NUMBER, "fused_broadcast", NUMBER_BESIDE),
    "too few inputs": (TOO_FEW, "fused_broadcast", "[CL001]"),
    "at one line": (AT_ONE_LINE, "fused_broadcast", "[[[2.0, 2.0]], [1.5, 1.5]]"),
    "an optional input": (OPTIONAL, "inputs", "[[[3.0, 3.0]], [[2.0, 2.0], [2.0, 2.0]]]"),
    "gradients": (GRADIENTS, "fused_broadcast", "[[[6.0, 6.0]], [30.5, 30.5]]"),
}


@pytest.mark.parametrize("kind", ["Custom", "operator"])
@pytest.mark.parametrize("how", ["jit", "graph"])
def test_each_place_is_judged_for_itself(libraries, run_python, how, kind):
    groups = {group: libraries(group).path for _, group, _ in CASES.values()}
    programs = [
        f"lib = opwright.load({groups[group]!r})\n{text}" for text, group, _ in CASES.values()
    ]
    made = run_python(HEAD + "".join(programs), how, kind, status=None)
    said = dict(zip(CASES, made.stdout.split("\n"), strict=False))
    assert {name: said.get(name, "")[-len(due) :] for name, (_, _, due) in CASES.items()} == {
        name: due for name, (_, _, due) in CASES.items()
    }, made.stderr
