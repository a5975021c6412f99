# SPDX-License-Identifier: Apache-2.0
""" "side_effect": every call of a compiled function runs, as often as it stands there."""

import pytest
import torch
from calls import assert_same, draw

BACKENDS = ["eager", "aot_eager", "inductor"]


@pytest.fixture
def effects(libraries):
    torch._dynamo.reset()
    yield libraries("effects")
    torch._dynamo.reset()


def counted(effects, call):
    """What a call gives, and how often it has called tick, tick_grad and the two for lists."""
    before = torch.ops.opwright.ticks()
    made = call()
    return made, (torch.ops.opwright.ticks() - before).tolist()


def compiled(function, backend, **options):
    return torch.compile(function, backend=backend, fullgraph=True, **options)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("backend", BACKENDS)
def test_calls_without_use_run(effects, backend, dynamic):
    def function(x):
        effects.tick(x)
        effects.tick(x)
        effects.tick_each([x, x + 1])
        return x + 1

    x = draw(3)
    made, calls = counted(effects, lambda: compiled(function, backend, dynamic=dynamic)(x))
    assert_same(made, x + 1)
    assert calls == [2, 0, 1, 0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_equal_calls_stay_two_with_gradients_too(effects, backend):
    def function(x):
        effects.tick(x)  # without use
        (y,) = effects.tick_each([effects.tick(x) + effects.tick(x)])
        return y.sum()

    x = draw(3, grad=True)
    made, calls = counted(effects, lambda: compiled(function, backend)(x))
    assert_same(made, (2 * x * x).sum())
    assert calls == [3, 0, 1, 0]
    _, calls = counted(effects, made.backward)
    assert_same(x.grad, 4 * x.detach())
    assert calls == [0, 2, 0, 1]


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_compiled_transform_runs_every_call(effects, backend):
    grad = torch.func.grad(lambda x: (effects.tick(x) + effects.tick(x)).sum())
    x = draw(3)
    made, calls = counted(effects, lambda: compiled(grad, backend)(x))
    assert_same(made, 4 * x)
    assert calls == [2, 2, 0, 0]


def test_an_exported_program_keeps_every_call(effects):
    class Twice(torch.nn.Module):
        def forward(self, x):
            effects.tick(x)
            effects.tick(x)
            return x + 1

    x = draw(3)
    program = torch.export.export(Twice(), (x,))
    for each in (program, program.run_decompositions()):
        assert counted(effects, lambda each=each: each.module()(x))[1] == [2, 0, 0, 0]


def test_other_operators_are_as_they_were(effects, libraries):
    from torch._higher_order_ops.effects import _get_effect

    libraries("elementwise")
    assert _get_effect(torch.ops.opwright.tick.default) is not None
    assert _get_effect(torch.ops.opwright.square.default) is None
