# SPDX-License-Identifier: Apache-2.0
"""What a Python rule was lent it may not write, and its gradients lie in memory of their own, in
every mode of PyTorch alike."""

import pytest
import torch
from calls import assert_same, draw
from torch._dynamo import compiled_autograd

import opwright


@pytest.fixture
def pair(libraries):
    """p = x y and q = x + 3 y, without the rule that a test binds."""
    op = libraries("inputs").pair
    yield op
    op.bprop(None)
    torch._dynamo.reset()


WEIGHTS = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)


def gradients(function, x, y):
    x, y = x.clone().requires_grad_(), y.clone().requires_grad_()
    function(x, y).backward(draw(3))
    return x.grad, y.grad


def compiled(backend):
    return lambda function, x, y: gradients(
        torch.compile(function, backend=backend, fullgraph=True), x, y
    )


def compiled_vjp(function, x, y):
    grad = torch.func.grad(lambda x, y: function(x, y) @ WEIGHTS, argnums=(0, 1))
    return torch.compile(grad, backend="aot_eager")(x, y)


MODES = {
    "eager": gradients,
    "compile eager": compiled("eager"),
    "compile aot_eager": compiled("aot_eager"),
    "compile inductor": compiled("inductor"),
    "compiled vjp": compiled_vjp,
    "vjp": lambda function, x, y: torch.func.vjp(function, x, y)[1](draw(3)),
    "vmap": lambda function, x, y: torch.vmap(
        torch.func.grad(lambda x, y: function(x, y) @ WEIGHTS, argnums=(0, 1))
    )(x.expand(2, 3).clone(), y.expand(2, 3).clone()),
    "jacrev": lambda function, x, y: torch.func.jacrev(function, argnums=(0, 1))(x, y),
    "jacobian": lambda function, x, y: torch.autograd.functional.jacobian(function, (x, y)),
    "vectorized": lambda function, x, y: torch.autograd.functional.jacobian(
        function, (x, y), vectorize=True
    ),
    "nested": lambda function, x, y: torch.func.jacrev(
        torch.func.jacrev(function, argnums=(0, 1)), argnums=(0, 1)
    )(x, y),
}
WRITES = {
    "the gradient of output p": lambda x, y, out, dout: (dout[0].mul_(2), dout[0] * x),
    "input x": lambda x, y, out, dout: (dout[0] * y, dout[0] * x.detach().mul_(2)),
    "output q": lambda x, y, out, dout: (dout[0] * y, dout[0] * out[1].detach().view(-1).add_(1)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("lent", WRITES)
def test_a_write_to_what_was_lent_is_refused_in_every_mode(pair, lent, mode):  # G09
    pair.bprop(WRITES[lent])
    x, y = draw(3), draw(3)
    before = x.clone(), y.clone()
    with pytest.raises(RuntimeError, match=f"pair: the bprop wrote into {lent}, .*GR009"):
        MODES[mode](lambda x, y: pair(x, y)[0], x, y)
    if lent != "input x":
        assert_same((x, y), before)


def test_compiled_autograd_keeps_the_writes_of_a_rule_to_itself(pair):  # G09
    pair.bprop(lambda x, y, out, dout: (dout[0].mul_(y), dout[0] * x.detach().mul_(2)))
    x, y, dout = draw(3, grad=True), draw(3, grad=True), torch.ones(3, dtype=torch.float64)
    before = x.detach().clone()
    with compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
        pair(x, y)[0].backward(dout)
    assert_same((x, dout), (before, torch.ones(3, dtype=torch.float64)))


def test_a_write_that_pytorch_refuses_says_the_same(pair):  # G09
    def grad_of_sum(x, y):
        """The gradient of a sum is one number, expanded; x is a leaf."""
        return torch.autograd.grad(pair(x, y)[0].sum(), x, create_graph=True)

    for lent in ("the gradient of output p", "input x"):
        pair.bprop(lambda x, y, out, dout, lent=lent: ((x if "x" in lent else dout[0]).mul_(2), y))
        with pytest.raises(opwright.GradientError, match=f"pair: the bprop wrote into {lent}, "):
            grad_of_sum(draw(3, grad=True), draw(3))


def test_what_pytorch_refuses_of_the_rules_own_tensors_stays_its_error(pair):
    pair.bprop(lambda x, y, out, dout: (torch.zeros(1).expand(3).mul_(2), dout[0] * x))
    with pytest.raises(RuntimeError, match="single memory location") as caught:
        gradients(lambda x, y: pair(x, y)[0], draw(3), draw(3))
    assert not isinstance(caught.value, opwright.Error)


SHARED = {
    "views of one": lambda x, y, out, dout: torch.stack([dout[0] * y, dout[0] * x]).unbind(),
    "one and a view": lambda x, y, out, dout: (lambda g: (g, g.view(-1)))(dout[0] * y),
    "one and a row": lambda x, y, out, dout: (lambda g: (g, g[0].expand(3)))(dout[0] * y),
    "one for both": lambda x, y, out, dout: (lambda g: (g, g))(dout[0] * y),
    "equal ones": lambda x, y, out, dout: (dout[0] * y, dout[0] * y),
    "the cotangent": lambda x, y, out, dout: (dout[0], dout[0].view(-1)),
    "an input": lambda x, y, out, dout: (x.detach(), x.view(-1)),
    "an output": lambda x, y, out, dout: (out[0].detach(), out[1]),
}


@pytest.mark.parametrize("mode", ["plain", "eager", "aot_eager", "inductor", "vjp", "backward"])
@pytest.mark.parametrize("rule", SHARED)
def test_gradients_lie_apart_in_every_mode(pair, rule, mode):  # G25
    pair.bprop(SHARED[rule])
    x, y, dout = draw(3, grad=True), draw(3, grad=True), draw(3)

    def first(x, y):
        return pair(x, y)[0]

    if mode == "vjp":
        z, pull = torch.func.vjp(first, x.detach(), y.detach())
        grads = pull(dout)
    elif mode == "backward":  # compiled by the autograd engine
        with compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
            z = first(x, y)
            z.backward(dout)
        grads = x.grad, y.grad
    else:
        z = torch.compile(first, backend=mode)(x, y) if mode != "plain" else first(x, y)
        z.backward(dout)
        grads = x.grad, y.grad
    assert_same(grads, SHARED[rule](x, y, pair(x.detach(), y.detach()), (dout, 0 * dout)))
    places = {t.untyped_storage().data_ptr() for t in (x, y, z, dout, *grads)}
    assert len(places) == 6


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_a_sparse_gradient_is_made_dense_and_one_without_data_refused(pair, backend):
    def first(x, y):
        return pair(x, y)[0]

    function = torch.compile(first, backend=backend) if backend else first
    if backend is None:
        pair.bprop(lambda x, y, out, dout: ((dout[0] * y).to_sparse(), dout[0] * x))
        x, y = draw(3), draw(3)
        grads = gradients(lambda x, y: function(x, y) * 2, x, y)
        assert all(grad.layout is torch.strided for grad in grads)
    pair.bprop(lambda x, y, out, dout: (dout[0] * y, x.to("meta")))
    words = r"pair: the bprop's gradient of input y is on device meta, cpu is due.*GR006"
    with pytest.raises(RuntimeError, match=words):
        gradients(function, draw(3), draw(3))
