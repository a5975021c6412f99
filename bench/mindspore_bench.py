# SPDX-License-Identifier: Apache-2.0
"""A call in MindSpore: opwright.mindspore.Custom against MindSpore's own operators and its Custom.

    python bench/mindspore_bench.py [--json FILE] [--rounds N] [--size N]

All contenders compute (x + bias) * scale on vectors of 8 float32, with three gradients. A round is
a block of calls of each contender, one after the other, and the block ends when the last result has
been read: PyNative mode only starts operators. The least time of all rounds counts.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import platform
import subprocess
import sys

import mindspore as ms
import numpy as np
from mindspore import ops
from timing import least

import opwright
from opwright.mindspore import Custom

ROOT = pathlib.Path(__file__).resolve().parents[1]


def rule(x, bias, scale, out, dout):
    total = x + bias
    # As many kernels for all contenders: where two gradients may be one, Opwright copies.
    return dout * scale, dout * out / total, dout * total


def first(x, bias, scale):
    return x


def native(x, bias, scale):
    return ops.mul(ops.add(x, bias), scale)


_library = opwright.load(ROOT / "examples" / "fused_add_scale")
_where = f"{_library.path}:fused_add_scale"
_compiled = Custom(_where, func_type="aot")
_checked = Custom(_where, func_type="aot", bprop=rule)
_raw = ops.Custom(_where, first, first, "aot", rule)


def compiled(x, bias, scale):
    return _compiled(x, bias, scale)


def checked(x, bias, scale):
    return _checked(x, bias, scale)


def raw(x, bias, scale):
    return _raw(x, bias, scale)


def operator(x, bias, scale):
    return _library.fused_add_scale(x, bias, scale)


CONTENDERS = {
    "two operators": native,
    "mindspore.ops.Custom": raw,
    "Custom, same rule": checked,
    "Custom, compiled backward": compiled,
    "lib.op": operator,
}


def grad_inside(function):
    """The gradient compiled as a whole."""
    gradient = ms.grad(function, (0, 1, 2))

    def grads(x, bias, scale):
        return gradient(x, bias, scale)

    return ms.jit(grads)


WAYS = {
    "PyNative": lambda function: function,
    "PyNative, gradient": lambda function: ms.grad(function, (0, 1, 2)),
    "ms.jit": ms.jit,
    "ms.jit, gradient": grad_inside,
}


def read(result) -> None:
    for each in result if isinstance(result, tuple) else (result,):
        each.asnumpy()


def measure(size: int, rounds: int, inner: int) -> dict[str, dict[str, float]]:
    """Way -> contender -> the least seconds a call."""
    inputs = [ms.Tensor(np.random.default_rng(k).random(size), ms.float32) for k in range(3)]
    results = {}
    for way, make in WAYS.items():
        calls = {name: make(function) for name, function in CONTENDERS.items()}
        due = calls["two operators"](*inputs)
        for name, call in calls.items():
            for given, wanted in zip(_tuple(call(*inputs)), _tuple(due), strict=True):
                np.testing.assert_allclose(given.asnumpy(), wanted.asnumpy(), 1e-5, err_msg=name)
        bound = {name: functools.partial(call, *inputs) for name, call in calls.items()}
        results[way] = least(bound, rounds, inner, finish=read)
    return results


def _tuple(result) -> tuple:
    return result if isinstance(result, tuple) else (result,)


def import_seconds(repetitions: int = 7) -> float:
    """What importing opwright.mindspore adds to importing MindSpore."""
    code = (
        "import time, mindspore; t = time.perf_counter(); import opwright.mindspore; "
        "print(time.perf_counter() - t)"
    )
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(repetitions)
    )


def rows(results: dict, seconds: float) -> list[dict]:
    """Goals: no slower than two operators; checks at most a fifth of a PyNative call, nothing in
    jit."""
    out = []
    for way, best in results.items():
        for name, value in best.items():
            peer = "mindspore.ops.Custom" if name == "Custom, same rule" else "two operators"
            factor = 1.2 if peer != "two operators" and "PyNative" in way else 1.05
            row = {
                "name": f"{way}, 8 float32: {name}",
                "value": value * 1e6,
                "unit": "us",
                "peer": peer,
                "peer_value": best[peer] * 1e6,
            }
            if name.startswith("Custom"):
                row["goal"] = best[peer] * 1e6 * factor
            out.append(row)
    out.append({"name": "import opwright.mindspore", "value": seconds, "unit": "s", "goal": 0.3})
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--inner", type=int, default=10)
    parser.add_argument("--size", type=int, default=8)
    options = parser.parse_args()
    made = rows(measure(options.size, options.rounds, options.inner), import_seconds())
    for row in made:
        ratio = row["value"] / row["peer_value"] if "peer_value" in row else float("nan")
        print(f"  {row['name']:58}{row['value']:10.3f} {row['unit']:3}{ratio:8.2f}")
    if options.json:
        report = {
            "machine": {
                "cores": os.cpu_count(),
                "mindspore": ms.__version__,
                "numpy": np.__version__,
                "Python": platform.python_version(),
                "Opwright": opwright.__version__,
            },
            "command": "python bench/mindspore_bench.py",
            "rows": made,
        }
        pathlib.Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
