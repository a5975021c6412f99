# SPDX-License-Identifier: Apache-2.0
"""opwright inspect: what a library says of its operators."""

import json

from command import run

import opwright

SOURCE = """#include <opwright/kernel.h>
class TellKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    return opwright::SUCCESS;
  }
};
"""
DEFAULTS = {
    "count": ("int", -3, "-3"),
    "ratio": ("float", 0.5, "0.5"),
    "flag": ("bool", True, "true"),
    "how": ("string", 'a "b"', '"a \\"b\\""'),
    "to": ("type", "float16", '"float16"'),
    "steps": ("list_int", [1, 2], "[1, 2]"),
    "weights": ("list_float", [0.5, 2.0], "[0.5, 2]"),
    "masks": ("list_bool", [True, False], "[true, false]"),
    "names": ("list_string", ["a", ""], '["a", ""]'),
    "rows": ("list_list_int", [[1, 2], []], "[[1, 2], []]"),
}


METADEF = {
    "op_name": "tell",
    "input_desc": [{"name": "x", "dtype": ["float32"], "shape": [-2]}],
    "output_desc": [{"name": "y", "dtype": ["float32"], "shape": [-2]}],
}


def test_attributes_are_listed_with_their_defaults(write_folder, tmp_path):
    attrs = [
        {"name": name, "type": kind, "param_type": "optional", "default_value": value}
        for name, (kind, value, _) in DEFAULTS.items()
    ]
    metadef = {
        **METADEF,
        "attr": [*attrs, {"name": "axis", "type": "int", "param_type": "required"}],
        "gradient": "tell_grad",
    }
    path = opwright.build(write_folder(tmp_path / "tell", metadef, SOURCE))
    lines = run("inspect", path).stdout.splitlines()
    for name, (kind, _, text) in DEFAULTS.items():
        assert f"    attr {name} {kind} = {text}" in lines, lines
    assert "    attr axis int (required)" in lines
    assert "    gradient tell_grad, which is not in this library" in lines
    (told,) = json.loads(run("inspect", path, "--format", "json").stdout)["operators"]
    assert told["gradient"] is None and told["metadef"]["attr"] == metadef["attr"]


def test_a_folder_is_built_first(write_folder, tmp_path):
    folder = write_folder(tmp_path / "tell", METADEF, SOURCE)
    told = run("inspect", folder)
    assert told.returncode == 0, told.stderr
    assert told.stdout.splitlines()[0] == opwright.build(folder)
    (folder / "op.json").write_text("{")
    told = run("inspect", folder)
    assert told.returncode == 2 and "[MD" in told.stderr, told.stderr
