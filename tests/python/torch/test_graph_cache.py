# SPDX-License-Identifier: Apache-2.0
"""PyTorch keeps compiled graphs on disk: a rebuilt operator never runs with an old backward."""

import subprocess
import sys

METADEF = """[
  {"op_name": "twice", "input_desc": [{"name": "x", "dtype": ["float32"], "shape": [-2]}],
   "output_desc": [{"name": "y", "dtype": ["float32"], "shape": [-2]}],
   "shape_rule": "same(x)", "gradient": "GRADIENT"},
  {"op_name": "by_two", "input_desc": [{"name": "grad_y", "dtype": ["float32"], "shape": [-2]}],
   "output_desc": [{"name": "grad_x", "dtype": ["float32"], "shape": [-2]}],
   "shape_rule": "same(grad_y)"},
  {"op_name": "by_three", "input_desc": [{"name": "grad_y", "dtype": ["float32"], "shape": [-2]}],
   "output_desc": [{"name": "grad_x", "dtype": ["float32"], "shape": [-2]}],
   "shape_rule": "same(grad_y)"}
]"""

KERNEL = """
#include <opwright/kernel.h>
using opwright::View;
template <int kFactor>
void Times(View<const float> x, View<float> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = kFactor * x.Data()[i];
}
OPWRIGHT_FUNCTION(twice, Times<2>)
OPWRIGHT_FUNCTION(by_two, Times<2>)
OPWRIGHT_FUNCTION(by_three, Times<3>)
"""

SCRIPT = """
import sys, torch, opwright
op = opwright.load(sys.argv[1]).twice
x = torch.ones(3, requires_grad=True)
torch.compile(lambda t: op(t) + 1, fullgraph=True)(x).sum().backward()
print(x.grad.tolist())
"""


def test_another_gradient_in_the_metadef_is_taken_by_the_next_process(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "graphs"))
    folder = tmp_path / "twice"
    folder.mkdir()
    (folder / "twice.cpp").write_text(KERNEL)
    seen = []
    for gradient in ("by_two", "by_three", "by_two"):
        (folder / "op.json").write_text(METADEF.replace("GRADIENT", gradient))
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        seen.append(run.stdout.strip())
    assert seen == ["[2.0, 2.0, 2.0]", "[3.0, 3.0, 3.0]", "[2.0, 2.0, 2.0]"]
