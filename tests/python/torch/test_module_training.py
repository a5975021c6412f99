# SPDX-License-Identifier: Apache-2.0
"""An operator's attribute `training` follows the mode of its module."""

import copy
import io
import pickle

import pytest
import torch
from calls import assert_same, draw
from operator_libraries import write_operator

import opwright

TENSOR = {"dtype": ["float64"], "shape": [-2]}


def definition(name, *attrs):
    return {
        "op_name": name,
        "input_desc": [{"name": "x", **TENSOR}],
        "output_desc": [{"name": "y", **TENSOR}],
        "attr": list(attrs),
        "shape_rule": "same(x)",
    }


# y = factor * x, and three times that while training.
METADEFS = [
    definition(
        "modal",
        {"name": "factor", "type": "float", "default_value": 1.0},
        {"name": "training", "type": "bool", "default_value": False},
    ),
    definition("modal_needed", {"name": "training", "type": "bool"}),
    definition("modal_number", {"name": "training", "type": "int", "default_value": 7}),
    definition("modal_text", {"name": "training", "type": "string", "default_value": "no"}),
    definition("modal_attributes", {"name": "attributes", "type": "float", "default_value": 2.0}),
]
SOURCE = """#include <opwright/kernel.h>
using In = opwright::View<const double>;
using Out = opwright::View<double>;
void Times(In x, Out y, double factor) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = factor * x.Data()[i];
}
void Modal(In x, Out y, double factor, bool training) {
  Times(x, y, training ? 3 * factor : factor);
}
OPWRIGHT_FUNCTION(modal, Modal)
void Needed(In x, Out y, bool training) { Times(x, y, training ? 3 : 1); }
OPWRIGHT_FUNCTION(modal_needed, Needed)
void Number(In x, Out y, int64_t training) { Times(x, y, double(training)); }
OPWRIGHT_FUNCTION(modal_number, Number)
void Text(In x, Out y, const char* training) { Times(x, y, training[0] == 'n' ? 5 : 6); }
OPWRIGHT_FUNCTION(modal_text, Text)
void Attributes(In x, Out y, double attributes) { Times(x, y, attributes); }
OPWRIGHT_FUNCTION(modal_attributes, Attributes)
"""


@pytest.fixture(scope="module")
def modal(tmp_path_factory):
    folder = write_operator(tmp_path_factory.mktemp("modal") / "modal", METADEFS, SOURCE)
    return opwright.load(folder)


X = draw(3)
Module = opwright.torch.Module


def test_the_attribute_follows_the_modules_mode(modal):
    layer = Module(modal.modal, factor=2.0)
    assert layer.training
    assert layer.attributes == {"factor": 2.0}
    assert_same(layer(X), 6 * X)
    for training, factor in ((False, 2), (True, 6)):
        assert layer.train(training) is layer
        assert layer.training is training
        assert_same(layer(X), factor * X)
        assert_same(layer(X, training=not training), (8 - factor) * X)
    layer.training = False
    assert_same(layer(X), 2 * X)


def test_the_mode_of_a_model_reaches_the_attribute(modal):
    model = torch.nn.Sequential(
        Module(modal.modal), torch.nn.Sequential(Module(modal.modal_needed)), torch.nn.Dropout(0)
    )
    for _ in range(2):
        assert_same(model.eval()(X), X)
        assert not any(module.training for module in model.modules())
        assert_same(model.train()(X), 9 * X)
        assert all(module.training for module in model.modules())


def test_an_attribute_that_was_given_stays(modal):
    for given, factor in ((True, 3), (False, 1)):
        layer = torch.nn.Sequential(Module(modal.modal, training=given))
        for mode in (True, False):
            assert_same(layer.train(mode)(X), factor * X)
            assert layer.training is mode
            assert layer[0].attributes == {"training": given}
    layer[0].attributes["training"] = True
    assert_same(layer(X), 3 * X)
    del layer[0].attributes["training"]
    assert_same(layer.train()(X), 3 * X)
    assert_same(layer.eval()(X), X)


def test_a_number_follows_as_0_and_1_and_another_type_does_not(modal):
    number, text = Module(modal.modal_number), Module(modal.modal_text)
    for mode in (True, False):
        assert_same(number.train(mode)(X), int(mode) * X)
        assert_same(text.train(mode)(X), 5 * X)


def copied(layer):
    return copy.deepcopy(layer)


def pickled(layer):
    return pickle.loads(pickle.dumps(layer))


def saved(layer):
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


@pytest.mark.parametrize("again", [copied, pickled, saved])
def test_a_copy_has_the_mode_and_switches_for_itself(modal, again):
    for mode, factor in ((True, 3), (False, 1)):
        layer = torch.nn.Sequential(Module(modal.modal)).train(mode)
        other = again(layer)
        assert other.training is other[0].training is mode
        assert_same(other(X), factor * X)
        assert_same(other.train(not mode)(X), (4 - factor) * X)
        assert_same(layer(X), factor * X)
        given = again(Module(modal.modal, training=True)).eval()
        assert_same(given(X), 3 * X)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_switches(modal, backend):
    torch._dynamo.reset()
    model = torch.nn.Sequential(Module(modal.modal))
    compiled = torch.compile(model, fullgraph=True, backend=backend)
    for mode, factor in ((True, 3), (False, 1), (True, 3)):
        model.train(mode)
        assert_same(compiled(X), factor * X)


def test_the_state_has_nothing_of_it(modal):
    layer = Module(modal.modal)
    assert layer.state_dict() == {}
    assert "training" not in repr(layer)
    assert "training=True" in repr(Module(modal.modal, training=True))


def test_other_attributes_are_not_the_modules(modal):
    layer = Module(modal.modal)
    with pytest.raises(opwright.CallError, match=r"module.attributes\['factor'\] = 4 \[CL006"):
        layer.factor = 4
    layer = Module(modal.modal_attributes, attributes=4.0)
    assert layer.attributes == {"attributes": 4.0}
    assert_same(layer.eval()(X), 4 * X)
    with pytest.raises(opwright.CallError, match=r"CL006"):
        layer.attributes = 3.0
