# SPDX-License-Identifier: Apache-2.0
"""Whole models that were saved, after the library at their operator's path was rebuilt."""

import pytest
import torch
from calls import assert_same
from operator_libraries import write_operator

import opwright

METADEF = {
    "op_name": "rebuilt_scale",
    "input_desc": [
        {"name": "x", "dtype": ["float64"], "shape": ["...", "n"]},
        {"name": "w", "dtype": ["float64"], "shape": ["n"]},
    ],
    "output_desc": [{"name": "y", "dtype": ["float64"], "shape": ["...", "n"]}],
    "shape_rule": "same(x)",
}
SOURCE = """#include <opwright/kernel.h>
void Scale(opwright::View<const double> x, opwright::View<const double> w,
           opwright::View<double> y) {
  const int64_t n = w.Size();
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = NUMBER * x.Data()[i] * w.Data()[i % n];
}
OPWRIGHT_FUNCTION(rebuilt_scale, Scale)
"""
X = torch.ones(2, 3, dtype=torch.float64)


@pytest.fixture
def saved(tmp_path):
    """A folder with a model that was saved, and its library, which was rebuilt since."""
    path = tmp_path / "libscale.so"

    def build(number):
        source = f"{SOURCE}// {tmp_path}".replace("NUMBER", str(number))
        opwright.build(write_operator(tmp_path / "op", METADEF, source), path)
        return opwright.load(path).rebuilt_scale

    weight = torch.full((3,), 2.0, dtype=torch.float64)
    model = torch.nn.Sequential(opwright.torch.Module(build(5), {"w": weight}))
    torch.save(model, tmp_path / "model.pt")
    torch.save(model.state_dict(), tmp_path / "state.pt")
    build(7)
    return tmp_path, path


def test_a_model_is_restored_where_its_content_is_loaded(saved):
    folder, path = saved
    model = torch.load(folder / "model.pt", weights_only=False)
    assert_same(model(X), 10 * X)
    path.unlink()
    assert_same(torch.load(folder / "model.pt", weights_only=False)(X), 10 * X)


def test_another_process_says_what_to_do_and_that_works(saved, run_python):
    folder, path = saved
    done = run_python(
        """
import sys, torch, opwright
folder, path = sys.argv[1:]
try:
    torch.load(f"{folder}/model.pt", weights_only=False)
except opwright.LoadError as error:
    print(error)
op = opwright.load(path).rebuilt_scale
weight = torch.ones(3, dtype=torch.float64)
model = torch.nn.Sequential(opwright.torch.Module(op, {"w": weight}))
model.load_state_dict(torch.load(f"{folder}/state.pt"))
print(model(torch.ones(1, 3, dtype=torch.float64)).tolist())
""",
        folder,
        path,
    )
    error, values = done.stdout.splitlines()
    assert error.startswith("rebuilt_scale was saved with the content ")
    assert f" of {path}, and that file is another now (" in error
    assert "save the state_dict of the model" in error and error.endswith("[LD012]")
    assert values == "[[14.0, 14.0, 14.0]]"
