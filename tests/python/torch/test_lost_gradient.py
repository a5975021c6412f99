# SPDX-License-Identifier: Apache-2.0
"""A gradient through an output that the backward operator does not take is no silent zero."""

import lost_gradients
import pytest
import torch

import opwright


@pytest.fixture(scope="module")
def stats(tmp_path_factory):
    return lost_gradients.load(tmp_path_factory.mktemp("lost") / "stats")


def uses(stats, weight):
    def loss(x):
        y, z = stats(x)
        return y.sum() if weight is None else y.sum() + (weight * z).sum()

    return loss


WAYS = {
    "eager": lambda loss, x: torch.autograd.grad(loss(x), x)[0],
    "compiled": lambda loss, x: torch.autograd.grad(torch.compile(loss, fullgraph=True)(x), x)[0],
    "func": lambda loss, x: torch.func.grad(loss)(x.detach()),
    "vmap": lambda loss, x: torch.func.vmap(torch.func.grad(loss))(x.detach()),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_gradient_that_would_be_lost_is_refused(stats, way):  # G15
    x = torch.ones(2, 3, requires_grad=True)
    with pytest.raises((opwright.GradientError, RuntimeError), match=lost_gradients.WORDS):
        WAYS[way](uses(stats, 1.0), x)


@pytest.mark.parametrize("way", WAYS)
def test_an_output_that_the_loss_does_not_use_costs_nothing(stats, way):
    x = torch.ones(2, 3, requires_grad=True)
    assert torch.equal(WAYS[way](uses(stats, None), x), torch.full((2, 3), 2.0))


@pytest.mark.parametrize("way", ["eager", "compiled", "func"])
def test_zeros_are_no_gradient(stats, way):
    x = torch.ones(3, requires_grad=True)
    assert torch.equal(WAYS[way](uses(stats, 0.0), x), torch.full((3,), 2.0))


def test_under_vmap_nobody_can_see_that_they_are_zeros(stats):
    with pytest.raises(opwright.GradientError, match=lost_gradients.WORDS):
        WAYS["vmap"](uses(stats, 0.0), torch.ones(2, 3))


def test_an_output_of_a_compiled_function_may_be_left_unused(stats):
    x = torch.ones(3, requires_grad=True)
    both = torch.compile(lambda x: stats(x), fullgraph=True)
    assert torch.equal(torch.autograd.grad(both(x)[0].sum(), x)[0], torch.full((3,), 2.0))
    with pytest.raises(RuntimeError, match=lost_gradients.WORDS):
        torch.autograd.grad(sum(both(x)).sum(), x)
