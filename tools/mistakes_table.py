# SPDX-License-Identifier: Apache-2.0
"""Writes docs/mindspore-mistakes.md: each row of tests/python/mindspore/misuse.py in each mode, by
mindspore.ops.Custom and by opwright.mindspore.Custom, each run in a process of its own.

    PYTHONPATH=build/dev:compat .venv/bin/python tools/mistakes_table.py >
    docs/mindspore-mistakes.md
"""

from __future__ import annotations

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python/mindspore"))

SECONDS = 90
_HEAD = """# Mistakes with MindSpore's Custom

What `mindspore.ops.Custom` ({version}) makes of each, and `opwright.mindspore.Custom`. Every cell
is what a process of its own printed; this page is written by `tools/mistakes_table.py`. "accepted
in silence": a result came, although the row says what is wrong with it.

| mistake | PyNative | ms.jit | graph mode | Opwright, in all three |
| --- | --- | --- | --- | --- |
"""
_TAIL = """
## What nobody sees

`functools.partial(op, y)` that is made outside of the function that is differentiated: PyNative
mode differentiates it, ms.jit and graph mode call it in Python from inside of the graph, where
no gradient is recorded and nobody can see that one is wanted. The values are right and the
gradient is zero, of every operator alike: MindSpore's own, a `def`, and Opwright's. Make the
partial inside of the function, or write a `def`; both are right in every mode.

One tensor object as two inputs, as in `ms.grad(f, (0, 1))(x, x)`: each gradient is the sum of both
in PyNative mode and under ms.jit, and its own in graph mode, of MindSpore's operators as well.
Give a copy.

A list that is changed in place (`pop`, `extend`, `insert`) in a function that is compiled:
MindSpore computes wrong gradients from it, of its own operators too, and beside any Custom says
"The prim is not a PrimitivePy" or ends the process. Write `a = a + [b]`, or a slice.

`t.add_(...)`, `t.mul_(...)` and their like leave `t` as it was on the CPU. Write `t = t + ...`.
"""


def run_one(which: str, mode: str, index: int, library: str, folder: str) -> None:
    """The child: prints what came of one row."""
    import mindspore
    import misuse
    import numpy as np

    import opwright.mindspore

    custom = mindspore.ops.Custom if which == "mindspore" else opwright.mindspore.Custom
    row = misuse.ROWS[index]
    use = misuse.Use(custom, library, mode, pathlib.Path(folder))
    try:
        result = row.use(use)
        same = row.right is not None and np.array_equal(np.array(result), np.array(row.right))
        said = "right" if same else "accepted in silence"
    except Exception as error:
        said = said_by(error, library, folder)
    print("\nSAID " + said, flush=True)


def said_by(error: Exception, library: str, folder: str) -> str:
    lines = [line for line in str(error).strip().split("\n") if line.strip(" -")]
    said = f"{type(error).__name__}: {lines[0] if lines else '(no message)'}"
    return said.replace(library, "libx.so").replace(folder, "FOLDER")


def outcome(which: str, mode: str, index: int, library: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, which, mode, str(index), library, folder]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, cwd=folder, check=False
            )
        except subprocess.TimeoutExpired:
            return f"hangs (stopped after {SECONDS} s)"
    found = re.findall(r"^SAID (.*)$", done.stdout, re.MULTILINE)
    if found:
        return found[-1]
    if done.returncode < 0:
        return f"the process dies ({signal.Signals(-done.returncode).name})"
    return f"the process ends with {done.returncode}"


def cell(text: str) -> str:
    text = re.sub(r"/[^\s'\":]*/(?=[^\s/'\":]+)", "", text)  # folders of this machine
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    text = re.sub(r"-[0-9a-f]{12}\.log", ".log", text)
    text = text if len(text) <= 160 else text[:157] + "..."
    return text.replace("|", "\\|").replace("\n", " ")


def our_cell(said: str) -> str:
    """Without what MindSpore puts around what a kernel says at run time."""
    return cell(said.split("Error message is ")[-1])


def main() -> None:
    import mindspore
    import misuse

    with tempfile.TemporaryDirectory() as folder:
        library = misuse.library(pathlib.Path(folder) / "operators")
        jobs = {}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for index in range(len(misuse.ROWS)):
                for which in ("mindspore", "opwright"):
                    for mode in misuse.MODES:
                        jobs[index, which, mode] = pool.submit(outcome, which, mode, index, library)
        print(_HEAD.format(version=mindspore.__version__), end="")
        for index, row in enumerate(misuse.ROWS):
            theirs = [cell(jobs[index, "mindspore", mode].result()) for mode in misuse.MODES]
            ours = list(
                dict.fromkeys(our_cell(jobs[index, "opwright", m].result()) for m in misuse.MODES)
            )
            print(f"| {row.name} | {' | '.join(theirs)} | {' / '.join(ours)} |")
        print(_TAIL, end="")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run_one(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
    else:
        main()
