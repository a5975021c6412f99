# SPDX-License-Identifier: Apache-2.0
"""MindSpore's compile cache, which keeps graphs from one process to the next."""

from operator_libraries import write_operator
from operators import GROW, GROW_SOURCE

PROGRAM = """
import sys
import mindspore as ms
import opwright

grow = opwright.load(sys.argv[1]).grow
ms.set_context(mode=ms.GRAPH_MODE)

class Net(ms.nn.Cell):
    def construct(self, x):
        return grow(x)

print(Net()(ms.Tensor([1.0, 2.0], ms.float32)).asnumpy().tolist())
"""


def test_a_kept_graph_runs_what_it_was_made_with_or_says_what_to_delete(
    tmp_path, run_python, monkeypatch
):  # L08
    monkeypatch.setenv("MS_COMPILER_CACHE_ENABLE", "1")
    monkeypatch.setenv("MS_COMPILER_CACHE_PATH", str(tmp_path / "graphs"))
    folder = tmp_path / "grow"
    write_operator(folder, GROW, GROW_SOURCE.replace("FACTOR", "2"))
    for _ in range(2):
        assert run_python(PROGRAM, folder).stdout == "[2.0, 4.0]\n"
    assert (tmp_path / "graphs").is_dir()
    write_operator(folder, GROW, GROW_SOURCE.replace("FACTOR", "3"))
    result = run_python(PROGRAM, folder, status=1)
    assert "delete that cache's folder [LD013]" in result.stderr
