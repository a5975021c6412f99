# SPDX-License-Identifier: Apache-2.0
"""What a call from numpy costs, and how long it takes from an edit to a result.

python bench/call_bench.py [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import minimum

import opwright

ROOT = Path(__file__).resolve().parents[1]
OPERATOR = ROOT / "examples" / "fused_add_scale"
ADD_SOURCE = ROOT / "examples" / "acl_form" / "add_kernel.cpp"
ADD_METADEF = ROOT / "examples" / "acl_form" / "element_add.json"
EDITS = 12


def row(name, value, unit, goal=None, peer=None, peer_value=None):
    ratio = None if peer_value is None else value / peer_value
    return {
        "name": name,
        "value": value,
        "unit": unit,
        "peer": peer,
        "peer_value": peer_value,
        "ratio": ratio,
        "goal": goal,
    }


def calls(op):
    rows = []
    for size in (8, 1024, 1 << 20):
        n = min(size, 1024)
        made = np.random.default_rng(size)
        x = made.standard_normal((n,) if size == n else (size // n, n), np.float32)
        bias, scale = (made.standard_normal(n, np.float32) for _ in range(2))
        out, sums = np.empty_like(x), np.empty_like(x)

        def native_out(x=x, bias=bias, scale=scale, out=out, sums=sums):
            np.add(x, bias, out=sums)
            np.multiply(sums, scale, out=out)

        own = minimum(lambda x=x, b=bias, s=scale, out=out: op(x, b, s, out=out)) * 1e6
        peer = minimum(native_out) * 1e6
        goal = 0.5 if size == 8 else None
        rows.append(
            row(
                f"numpy call, out=, {size} elements",
                own,
                "us",
                goal,
                "add and multiply with out=",
                peer,
            )
        )
        own = minimum(lambda x=x, b=bias, s=scale: op(x, b, s)) * 1e6
        peer = minimum(lambda x=x, b=bias, s=scale: (x + b) * s) * 1e6
        rows.append(row(f"numpy call, {size} elements", own, "us", None, "(x + b) * s", peer))
    return rows


def elementwise(op):
    """Without names to compare: element_add, whose shapes are [-1]."""
    x, y, z = (np.ones(8, np.float32) for _ in range(3))
    own = minimum(lambda: op(x, y, out=z)) * 1e6
    peer = minimum(lambda: np.add(x, y, out=z)) * 1e6
    name = "numpy call, out=, 8 elements, elementwise"
    return row(name, own, "us", None, "add with out=", peer)


def edits(folder: Path):
    """Wall time from an edited line to the new code's result, in this process; a cache hit."""
    source = folder / "fused_add_scale.cpp"
    text = source.read_text()
    line = "y[r * n + i] = (x_data[r * n + i] + bias[i]) * scale[i]"
    assert text.count(line) == 1
    x, bias, scale = np.ones((2, 8), np.float32), np.zeros(8, np.float32), np.ones(8, np.float32)
    opwright.load(folder).fused_add_scale(x, bias, scale)
    times, path = [], ""
    for k in range(EDITS):
        source.write_text(text.replace(line, f"{line} + {k + 1}.0f"))
        started = time.perf_counter()
        path = opwright.build(folder)
        y = opwright.load(path).fused_add_scale(x, bias, scale)
        times.append(time.perf_counter() - started)
        assert (y == k + 2).all()
    rows = [
        row("edit to result", statistics.median(times), "s", 0.25),
        row("edit to result, least", min(times), "s"),
        row("build, cache hit", minimum(lambda: opwright.build(folder)) * 1e3, "ms"),
        row("load, library known", minimum(lambda: opwright.load(path)) * 1e3, "ms"),
    ]
    # Each edit's library is new to the process; building is not part of the time.
    fresh = []
    for k in range(EDITS):
        source.write_text(text.replace(line, f"{line} - {k + 1}.0f"))
        path = opwright.build(folder)
        started = time.perf_counter()
        opwright.load(path)
        fresh.append(time.perf_counter() - started)
    return [*rows, row("load, library new", statistics.median(fresh) * 1e3, "ms")]


def machine():
    model = platform.machine()
    for text in Path("/proc/cpuinfo").read_text().splitlines():
        if text.startswith("model name"):
            model = text.split(":", 1)[1].strip()
            break
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "Opwright": opwright.__version__,
        "numpy": np.__version__,
        "Python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["OPWRIGHT_CACHE"] = str(Path(scratch) / "cache")
        folder = Path(scratch) / "fused_add_scale"
        shutil.copytree(OPERATOR, folder)
        add = Path(scratch) / "element_add"
        add.mkdir()
        shutil.copy(ADD_SOURCE, add)
        shutil.copy(ADD_METADEF, add / "op.json")
        rows = [
            elementwise(opwright.load(add).element_add),
            *calls(opwright.load(OPERATOR).fused_add_scale),
            *edits(folder),
        ]
    for item in rows:
        peer = "" if item["peer"] is None else f"   {item['ratio']:.2f} of {item['peer']}"
        goal = "" if item["goal"] is None else f"   goal {item['goal']}"
        print(f"{item['name']:42} {item['value']:10.3f} {item['unit']}{peer}{goal}")
    if arguments.json:
        result = {"machine": machine(), "command": "python bench/call_bench.py", "rows": rows}
        arguments.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
