# SPDX-License-Identifier: Apache-2.0
"""opwright.check: the same verdicts as the command line, as objects."""

from pathlib import Path

from operator_libraries import write_operator

import opwright

EXAMPLE = Path(__file__).parents[3] / "examples" / "fused_add_scale"


def test_a_right_folder_library_and_operator_are_true():
    library = opwright.load(EXAMPLE)
    for target in (EXAMPLE, library, library.fused_add_scale):
        report = opwright.check(target)
        assert report, report.text
        (operator,) = report.operators
        assert [row["input"] for row in operator["gradients"]] == ["x", "bias", "scale"]
        assert "right" in str(report)


def test_a_wrong_gradient_is_false_and_named(tmp_path):
    source = (EXAMPLE / "fused_add_scale.cpp").read_text()
    wrong = source.replace(
        "out[r * n + i] = grad_y[r * n + i] * scale[i];", "out[r * n + i] = grad_y[r * n + i];"
    )
    assert wrong != source
    (tmp_path / "fused_add_scale.cpp").write_text(wrong)
    (tmp_path / "op.json").write_text((EXAMPLE / "op.json").read_text())
    report = opwright.check(tmp_path)
    assert not report and report.verdict == "wrong"
    rows = {row["input"]: row for row in report.operators[0]["gradients"]}
    assert not rows["x"]["right"] and rows["bias"]["right"] and rows["scale"]["right"]


SCALED = """[
  {"op_name": "scaled", "input_desc": [{"name": "x", "dtype": ["float64"], "shape": [-2]}],
   "output_desc": [{"name": "y", "dtype": ["float64"], "shape": [-2]}],
   "attr": [{"name": "s", "type": "float", "param_type": "optional", "default_value": 1.0}],
   "shape_rule": "same(x)", "gradient": "scaled_grad"},
  {"op_name": "scaled_grad",
   "input_desc": [{"name": "grad_y", "dtype": ["float64"], "shape": [-2]}],
   "output_desc": [{"name": "grad_x", "dtype": ["float64"], "shape": [-2]}],
   "attr": [{"name": "s", "type": "float", "param_type": "optional", "default_value": 1.0}],
   "shape_rule": "same(grad_y)"}
]"""

SCALED_KERNEL = """
#include <opwright/kernel.h>
using opwright::View;
static void Scaled(View<const double> x, View<double> y, double s) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = s * x.Data()[i];
}
OPWRIGHT_FUNCTION(scaled, Scaled)
static void ScaledGrad(View<const double> g, View<double> grad_x, double s) {
  (void)s;
  for (int64_t i = 0; i < g.Size(); ++i) grad_x.Data()[i] = FACTOR g.Data()[i];
}
OPWRIGHT_FUNCTION(scaled_grad, ScaledGrad)
"""


def test_a_factor_that_a_neutral_default_hides_is_found(tmp_path):
    verdicts = []
    for factor in ("s *", ""):
        folder = tmp_path / f"factor_{len(verdicts)}"
        folder.mkdir()
        (folder / "op.json").write_text(SCALED)
        (folder / "scaled.cpp").write_text(SCALED_KERNEL.replace("FACTOR", factor))
        verdicts.append(opwright.check(folder).verdict)
    assert verdicts == ["right", "wrong"]


def _operator(name, inputs, outputs, **more):
    return {
        "op_name": name,
        "input_desc": [{"name": n, "dtype": ["float64"], "shape": ["n"]} for n in inputs],
        "output_desc": [{"name": n, "dtype": ["float64"], "shape": ["n"]} for n in outputs],
        "shape_rule": {n: "same(x)" for n in outputs},
        **more,
    }


CHAIN = [
    _operator("halved", ["x"], ["y"], gradient="slope"),
    _operator(
        "slope",
        ["x", "grad_y"],
        ["grad_x"],
        gradient={
            "op": "flat",
            "inputs": ["x", "grad_y", "grad_grad_x"],
            "outputs": ["x", "grad_y"],
        },
    ),
    _operator("flat", ["x", "g", "h"], ["dx", "dg"]),
]
CHAIN_SOURCE = """
#include <opwright/kernel.h>
using V = opwright::View<const double>;
using O = opwright::View<double>;
void Halved(V x, O y) { for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) * x(i) / 2; }
void Slope(V x, V g, O y) { for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) * g(i); }
void Flat(V x, V g, V h, O dx, O dg) {
  for (int64_t i = 0; i < x.Size(); ++i) {
    dx(i) = g(i) * h(i);
    dg(i) = x(i) * h(i);
  }
}
OPWRIGHT_FUNCTION(halved, Halved)
OPWRIGHT_FUNCTION(slope, Slope)
OPWRIGHT_FUNCTION(flat, Flat)
"""


def test_a_library_and_its_path_are_checked_alike(tmp_path):
    """A backward operator that has a gradient of its own is checked by itself too."""
    path = opwright.build(write_operator(tmp_path / "chain", CHAIN, CHAIN_SOURCE))
    library = opwright.load(path)
    for name in (None, "halved", "slope", "flat"):
        by_path, by_library = (opwright.check(t, name=name) for t in (path, library))
        assert [op["name"] for op in by_path.operators] == [
            op["name"] for op in by_library.operators
        ]
        assert by_path.verdict == by_library.verdict == "right"
    assert [op["name"] for op in opwright.check(library).operators] == ["halved", "slope"]
