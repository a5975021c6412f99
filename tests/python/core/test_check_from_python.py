# SPDX-License-Identifier: Apache-2.0
"""opwright.check: the same verdicts as the command line, as objects."""

from pathlib import Path

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
