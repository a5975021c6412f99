# SPDX-License-Identifier: Apache-2.0
"""ms.jit(capture_mode="bytecode"): what MindSpore captures in a graph, and where it ends one."""

import mindspore as ms
import pytest
from calls import draw, wide
from mindspore import Parameter, nn, ops
from modes import close

import opwright.mindspore

X, BIAS, SCALE = draw(2, 3), draw(3), draw(3)


class Net(nn.Cell):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.bias = Parameter(BIAS, name="bias")
        self.scale = Parameter(SCALE, name="scale")

    def construct(self, x):
        return self.function(x, self.bias, self.scale)


def gradients(function, **options):
    """Of x and of the Parameters, compiled with the differentiation."""
    net = Net(function)

    def loss(x):
        return ops.reduce_sum(net(x))

    compiled = ms.jit(ms.grad(loss, 0, net.trainable_params()), capture_mode="bytecode", **options)
    of_x, of_parameters = compiled(X)
    return of_x, *of_parameters


@pytest.fixture
def fused(libraries):
    return libraries("fused_add_scale").fused_add_scale


@pytest.mark.parametrize("fullgraph", (False, True))
def test_a_custom_is_captured_with_the_gradients_of_its_parameters(fused, fullgraph):
    made = gradients(opwright.mindspore.Custom(fused), fullgraph=fullgraph)
    x, bias, scale = wide(X), wide(BIAS), wide(SCALE)
    close(made, [scale + 0 * x, 2 * scale, (x + bias).sum(0)], 1e-5)


def test_an_operator_ends_the_graph_which_fullgraph_refuses(fused):
    with pytest.raises(RuntimeError, match="Unsupported function"):
        gradients(fused, fullgraph=True)
