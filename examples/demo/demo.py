# SPDX-License-Identifier: Apache-2.0
"""An operator from its source to trained networks: build, validate, check, compare, train.

One library in PyTorch and in MindSpore, beside the native expression.

    python examples/demo/demo.py [--operator FOLDER] [--epochs N] [--page FILE]

Exits with 1 at the first thing that is not right. The path of the page is printed last.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import compare
import in_mindspore
import in_torch
import mindspore
import numpy
import page
import times
import torch
import train

import opwright

ROOT = Path(__file__).resolve().parents[2]
OPERATOR = ROOT / "examples" / "fused_add_scale"
PLACES = [*in_torch.PLACES, *in_mindspore.PLACES]
LEAST_ACCURACY = 0.95
# The forward values are equal; sums are rounded differently, in the gradients and from framework to
# framework, which training carries on: a few 1e-6 after 20 epochs.
LARGEST_LOSS_DIFFERENCE = 1e-4

_started = time.perf_counter()


def step(words: str) -> None:
    print(f"[{time.perf_counter() - _started:6.1f} s] {words}", flush=True)


def fail(words: str):
    print(f"demo: wrong: {words}", file=sys.stderr)
    raise SystemExit(1)


def program(*arguments) -> str:
    """Runs the command line as a user would; what it says is shown and returned."""
    shown = " ".join(["opwright", *map(str, arguments)])
    print(f"    $ {shown}", flush=True)
    command = [sys.executable, "-m", "opwright", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("".join(f"    {line}\n" for line in done.stdout.splitlines()), end="", flush=True)
    if done.returncode != 0:
        fail(f"`{shown}` ended with {done.returncode}")
    return done.stdout


def show_comparisons(rows: list[compare.Comparison]) -> None:
    print(f"    {'shape':>14} {'':18} {'native error':>13} {'custom error':>13} {'allowed':>9}")
    for row in rows:
        print(
            f"    {page.shape_text(row.shape):>14} {row.what:18} {row.native_error:13.2e} "
            f"{row.custom_error:13.2e} {row.allowed:9.1e}{'' if row.right else '  WRONG'}"
        )
    wrong = [row for row in rows if not row.right]
    if wrong:
        worst = max(wrong, key=lambda row: row.custom_error)
        fail(
            f"{worst.place}: {worst.what} of shape {page.shape_text(worst.shape)} is off by "
            f"{worst.custom_error:.2e}, {worst.allowed:.1e} is what rounding explains"
        )


def train_all(custom, epochs: int) -> list[train.Run]:
    runs = []
    for place in PLACES:
        native = train.train(place, "native expression", compare.native, epochs)
        runs += [native, train.train(place, "custom operator", custom, epochs, native)]
    return runs


def judge(runs: list[train.Run]) -> None:
    """Fails when runs are not alike or bad: custom ones beside their native one, that one beside
    the first framework's."""
    for run in runs:
        other = run.native or runs[0]
        difference = max(run.distances(other))
        if run is not other:
            print(f"    {run} from {other}: largest loss difference {difference:.2e}")
        if not difference <= LARGEST_LOSS_DIFFERENCE:
            fail(f"{run}: {difference:.2e} from {other}, allowed {LARGEST_LOSS_DIFFERENCE}")
        if not run.accuracy > LEAST_ACCURACY:
            fail(f"{run} reaches {run.accuracy:.4f} on the test digits, due is {LEAST_ACCURACY}")


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(
            line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def facts(identity: str) -> dict[str, str]:
    compiler = subprocess.run(
        [os.environ.get("CXX", "c++"), "--version"], capture_output=True, text=True
    )
    return {
        "Opwright": opwright.__version__,
        "operator library": f"sha256 {identity}",
        "PyTorch": f"{torch.__version__}, {torch.get_num_threads()} thread",
        "MindSpore": mindspore.__version__,
        "numpy": numpy.__version__,
        "Python": platform.python_version(),
        "compiler": compiler.stdout.splitlines()[0] if compiler.stdout else "",
        "processor": f"{processor()}, {len(os.sched_getaffinity(0))} cores usable",
        "system": f"{platform.system()} {platform.machine()}",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operator", type=Path, default=OPERATOR, help="the operator folder")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--repetitions", type=int, default=15, help="measurements for each time")
    parser.add_argument("--page", type=Path, default=ROOT / "build" / "demo" / "index.html")
    arguments = parser.parse_args()
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    library = arguments.page.parent / "libfused_add_scale.so"

    # The tensors are small: a second thread costs more than it gives, and makes times unsteady.
    torch.set_num_threads(1)

    step("validate: the metadef")
    program("validate", arguments.operator / "op.json")
    step("build: the kernels and the metadef to one library")
    program("build", arguments.operator, "-o", library)
    step("check: kernels between guard pages, gradients against central differences")
    verdict = program("check", library)
    step("load: one library for both frameworks")
    loaded = opwright.load(library)
    custom = loaded.fused_add_scale
    print(f"    {loaded}\n    y = (x + bias) * scale")
    comparisons = []
    for place in PLACES:
        step(f"{place}: values and gradients beside the native expression, errors against float64")
        comparisons += compare.compare(place, custom)
        show_comparisons([row for row in comparisons if row.place == place])
    step(f"train on handwritten digits: {train.NETWORK}")
    runs = train_all(custom, arguments.epochs)
    judge(runs)
    step("times in PyTorch, least of several measurements")
    timings = times.time_both(custom, arguments.repetitions)
    for row in timings:
        print(
            f"    {page.shape_text(row.shape):>14} {row.what:9} native {row.native:9.2f} us, "
            f"custom {row.custom:9.2f} us"
        )
    text = page.render(runs, comparisons, timings, verdict, facts(loaded.identity))
    arguments.page.write_text(text, encoding="utf-8")
    step("done: the custom operator trains as the native expression does")
    print(arguments.page.resolve())


if __name__ == "__main__":
    main()
