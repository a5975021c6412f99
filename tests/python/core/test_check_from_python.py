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
