# SPDX-License-Identifier: Apache-2.0
"""opwright.torch.Module and opwright.torch.op."""

import io
import pickle

import pytest
import torch
from calls import assert_same, draw
from operator_libraries import ROOT, write_operator

import opwright


def test_parameters_train(libraries):
    fused = libraries("fused_add_scale").fused_add_scale
    layer = opwright.torch.Module(fused, {"bias": torch.zeros(4), "scale": torch.ones(4)})
    assert [name for name, _ in layer.named_parameters()] == ["bias", "scale"]
    x = draw(8, 4, dtype=torch.float32)
    target = (x + 0.5) * 2
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    first = None
    for _ in range(400):
        optimizer.zero_grad()
        loss = ((layer(x) - target) ** 2).mean()
        first = loss.item() if first is None else first
        loss.backward()
        optimizer.step()
    assert loss.item() < first / 1000


def test_state_dict_round_trip(libraries):
    fused = libraries("fused_add_scale").fused_add_scale

    def make(value):
        return opwright.torch.Module(
            fused, {"bias": torch.full((4,), value), "scale": torch.full((4,), value)}
        )

    source, target = make(2.0), make(0.0)
    stored = io.BytesIO()
    torch.save(source.state_dict(), stored)
    stored.seek(0)
    target.load_state_dict(torch.load(stored))
    x = draw(3, 4, dtype=torch.float32)
    assert_same(target(x), source(x))
    assert_same(target.double()(x.double()), source(x).double())


def test_any_inputs_may_be_the_modules_own(libraries):
    linear = libraries("inputs").linear
    x, w, bias = draw(3, 4), draw(4, 5), draw(5)
    expected = 2 * (x @ w) + bias
    module = opwright.torch.Module
    assert_same(module(linear, alpha=2.0)(x, w, bias), expected)
    assert_same(module(linear, {"w": w}, alpha=2.0)(x, bias), expected)
    assert_same(module(linear, {"w": w, "bias": bias}, alpha=2.0)(x), expected)
    assert_same(module(linear, {"x": x, "bias": bias}, alpha=2.0)(w), expected)
    assert_same(module(linear, {"x": x, "w": w, "bias": bias}, alpha=2.0)(), expected)
    assert_same(module(linear, {"w": w})(x), x @ w)
    assert_same(module(linear)(x, w), x @ w)


def test_a_given_parameter_is_shared(libraries):
    weight = torch.nn.Parameter(draw(4, 5))
    layer = opwright.torch.Module(libraries("inputs").linear, {"w": weight})
    assert layer.w is weight
    layer(draw(3, 4)).sum().backward()
    assert weight.grad is not None


def test_frozen_parameters_get_no_gradient(libraries):  # G04
    layer = opwright.torch.Module(libraries("inputs").linear, {"w": draw(4, 5)})
    layer.w.requires_grad_(False)
    x = draw(3, 4, grad=True)
    layer(x).sum().backward()
    assert layer.w.grad is None
    assert x.grad is not None


def test_wrong_use_is_refused(libraries):
    linear = libraries("inputs").linear
    with pytest.raises(opwright.CallError, match=r"no input weight; it has x, w, bias.*CL006"):
        opwright.torch.Module(linear, {"weight": draw(4, 5)})
    with pytest.raises(opwright.CallError, match=r"no input bia; .* did you mean bias\? \[CL006"):
        opwright.torch.Module(linear, {"bia": draw(5)})
    with pytest.raises(opwright.CallError, match=r"parameter w is given list.*CL013"):
        opwright.torch.Module(linear, {"w": [[1.0]]})
    with pytest.raises(opwright.CallError, match=r"no input or attribute is named eps.*CL006"):
        opwright.torch.Module(linear, eps=1.0)
    with pytest.raises(opwright.CallError, match=r"takes an operator.*str was given.*CL013"):
        opwright.torch.Module("linear")
    with pytest.raises(opwright.CallError, match=r"Tensor was given; write {'x': ..., .*CL013"):
        opwright.torch.Module(linear, draw(4, 5))
    layer = opwright.torch.Module(linear, {"w": draw(4, 5)})
    with pytest.raises(opwright.ShapeError, match="CL001"):
        layer(draw(3, 4), draw(5), draw(5))
    with pytest.raises((RuntimeError, TypeError), match="linear"):
        layer()


def test_inputs_by_name_reach_the_module(libraries):
    linear = libraries("inputs").linear
    x, w, bias = draw(3, 4), draw(4, 5), draw(5)
    layer = opwright.torch.Module(linear, {"w": w}, alpha=2.0)
    expected = 2 * (x @ w) + bias
    assert_same(layer(x=x, bias=bias), expected)
    assert_same(layer(x, bias=bias), expected)
    assert_same(layer(bias=bias, x=x, alpha=1.0), x @ w + bias)
    compiled = torch.compile(layer, fullgraph=True, backend="aot_eager")
    assert_same(compiled(x, bias=bias), expected)
    for wrong, words in (
        ({"w": w}, "input w is a parameter of the module"),
        ({"x": x}, "input x is given twice"),
        ({"y": x}, "no input or attribute is named y"),
    ):
        with pytest.raises(opwright.CallError, match=words):
            layer(x, **wrong)


TAKEN = ("training", "forward", "type", "half", "buffers", "attributes", "parameters")


@pytest.mark.parametrize("name", TAKEN)
def test_names_that_every_module_has_are_inputs_and_no_parameters(tmp_path, name):
    tensor = {"dtype": ["float64"], "shape": [-2]}
    definition = {
        "op_name": f"module_{name}",
        "input_desc": [{"name": name, **tensor}, {"name": "weight", **tensor}],
        "output_desc": [{"name": "y", **tensor}],
        "shape_rule": f"same({name}, weight)",
    }
    source = f"""#include <opwright/kernel.h>
void Product(opwright::View<const double> a, opwright::View<const double> b,
             opwright::View<double> y) {{
  for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = a.Data()[i] * b.Data()[i];
}}
OPWRIGHT_FUNCTION(module_{name}, Product)
"""
    op = opwright.load(write_operator(tmp_path / name, definition, source))[f"module_{name}"]
    a, b = draw(3), draw(3)
    with pytest.raises(opwright.CallError, match=rf"input {name} cannot be a parameter.*CL006"):
        opwright.torch.Module(op, {name: a})
    assert_same(opwright.torch.Module(op, {"weight": b})(a), a * b)
    assert_same(opwright.torch.Module(op, {"weight": b})(**{name: a}), a * b)


def test_an_integer_is_no_parameter(libraries):
    take = libraries("inputs").take_rows
    index = torch.tensor([2, 0], dtype=torch.int32)
    with pytest.raises(opwright.CallError, match=r"parameter idx is int32.*floats are due.*CL002"):
        opwright.torch.Module(take, {"idx": index})
    frozen = torch.nn.Parameter(index, requires_grad=False)
    x = draw(3, 2, dtype=torch.float32)
    assert_same(opwright.torch.Module(take, {"idx": frozen})(x), x[index.long()])


def test_attributes_are_the_operators(libraries):
    power, x = libraries("elementwise").power, draw(3)
    layer = opwright.torch.Module(power, exponent=3)
    assert_same(layer(x), x**3)
    assert_same(layer(x, exponent=2), x**2)
    layer.attributes["exponent"] = 2
    assert_same(layer(x), x**2)
    with pytest.raises(opwright.CallError, match=r"module.attributes\['exponent'\] = 4 \[CL006"):
        layer.exponent = 4
    for value in ("hot", torch.nn.Parameter(torch.ones(()))):
        with pytest.raises(opwright.CallError, match=r"power: attribute exponent .*CL006"):
            opwright.torch.Module(power, exponent=value)


def test_modules_compose_and_compile(libraries):
    fused, square = libraries("fused_add_scale").fused_add_scale, libraries("elementwise").square
    model = torch.nn.Sequential(
        torch.nn.Linear(4, 4),
        opwright.torch.Module(fused, {"bias": torch.zeros(4), "scale": torch.ones(4)}),
        opwright.torch.Module(square),
    )
    x = draw(3, 4, dtype=torch.float32)
    torch._dynamo.reset()
    compiled = torch.compile(model, fullgraph=True)
    compiled(x).sum().backward()
    made = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    assert_same(made, [p.grad for p in model.parameters()])
    assert "fused_add_scale" in repr(model)


def test_op_takes_a_folder_a_path_or_an_operator(libraries, tmp_path):
    op = opwright.torch.op
    fused = op(ROOT / "examples" / "fused_add_scale")
    assert fused.name == "fused_add_scale"
    assert (
        op(libraries("fused_add_scale").path).key
        == libraries("fused_add_scale").fused_add_scale.key
    )
    assert op(fused) is fused
    assert op(libraries("inputs").path, "linear").name == "linear"
    with pytest.raises(
        opwright.LoadError, match=r"forward operators \(.*linear.*say which one by name"
    ):
        op(libraries("inputs").path)
    with pytest.raises(opwright.LoadError, match="nothing"):
        op(libraries("inputs").path, "nothing")


def test_op_binds_a_rule(tmp_path):
    folder = write_operator(
        tmp_path / "cubed",
        {
            "op_name": "cubed",
            "input_desc": [{"name": "x", "dtype": ["float64"], "shape": [-2]}],
            "output_desc": [{"name": "y", "dtype": ["float64"], "shape": [-2]}],
        },
        """#include <opwright/kernel.h>
void Cubed(opwright::View<const double> x, opwright::View<double> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i] * x.Data()[i];
}
OPWRIGHT_FUNCTION(cubed, Cubed)
""",
    )
    cubed = opwright.torch.op(folder, bprop=lambda x, out, dout: (3 * x * x * dout,))
    assert torch.autograd.gradcheck(cubed, (draw(3, grad=True),))
    with pytest.raises(opwright.GradientError, match="GR007"):
        opwright.torch.op(cubed, bprop=lambda x: (x,))


def test_a_symbolic_trace_calls_the_torch_operator(libraries):
    linear = libraries("inputs").linear
    x, w, bias = draw(3, 4), draw(4, 5), draw(5)
    layer = opwright.torch.Module(linear, {"w": w}, alpha=2.0)
    traced = torch.fx.symbolic_trace(torch.nn.Sequential(layer, torch.nn.ReLU()))
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert targets == [torch.ops.opwright.linear.default]
    assert_same(traced(x), torch.relu(2 * x @ w))
    copied = pickle.loads(pickle.dumps(traced))
    assert_same(copied(x), torch.relu(2 * x @ w))
    sums = torch.fx.symbolic_trace(lambda x, y: libraries("inputs").sum_all([x, y], bias=x))
    assert_same(sums(bias, 2 * bias), 8 * bias)


def test_a_number_beside_a_symbol_is_refused(libraries):
    add = libraries("element_add").element_add
    with pytest.raises(opwright.DTypeError, match="a number beside Proxy") as caught:
        torch.fx.symbolic_trace(lambda x: add(x, 2.0))
    assert caught.value.code == "CL013"


class Logged:
    """What stands for a tensor, by PyTorch's protocol alone."""

    def __init__(self, tensor):
        self.tensor, self.seen = tensor, []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        (own,) = [value for value in args if isinstance(value, cls)]
        own.seen.append(function)
        plain = [value.tensor if isinstance(value, cls) else value for value in args]
        return function(*plain, **(kwargs or {}))


def test_what_stands_for_a_tensor_is_asked(libraries):
    add, x = libraries("element_add").element_add, torch.ones(3)
    for call in (lambda t: add(t, x), lambda t: add(x, t), lambda t: add(y=t, x=x)):
        logged = Logged(2 * x)
        assert_same(call(logged), 3 * x)
        assert [seen._schema.name.rpartition("::")[2] for seen in logged.seen] == ["element_add"]
    with pytest.raises(opwright.DTypeError, match="torch and numpy in one call"):
        add(Logged(x), x.numpy())
