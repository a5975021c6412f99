# SPDX-License-Identifier: Apache-2.0
"""Writes the table of what is supported into README.md, from the results of `make test`.

    python tools/support_table.py [--results build/test-results] [--readme README.md] [--check]

A cell is yes when all its tests ran and passed in one of the result files of its column and none
failed in another; "FAILS" when one did not pass; "not run" when there is no result; "-" when no
test is meant to show it.
--check changes nothing and exits with 1 when a line of the table in the file is another one: the
README is written by `make support-table`, not by a test run.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from marked import ROOT, replaced

BEGIN = "<!-- support table: tools/support_table.py -->"
END = "<!-- end of the support table -->"


class Result(NamedTuple):
    suite: str  # the result file's name without .xml
    name: str  # "test_gradient.test_gradcheck[add]", "Signature.ChoosesAColumn"
    passed: bool
    skipped: bool


# Column -> result files, each of which shows it alone: the sanitizers run the same C++ tests again.
COLUMNS = {
    "numpy 1.26": ("python-core-numpy1",),
    "numpy 2": ("python-core-numpy2",),
    "C++": ("cpp-dev", "cpp-asan-ubsan"),
    "C": ("cpp-dev", "cpp-asan-ubsan"),
    "PyTorch, numpy 1.26": ("python-torch-numpy1",),
    "PyTorch, numpy 2": ("python-torch-numpy2",),
    "MindSpore, numpy 1.26": ("python-mindspore-numpy1",),
    "MindSpore, numpy 2": ("python-mindspore-numpy2",),
}

NUMPY = ("numpy 1.26", "numpy 2")
TORCH = ("PyTorch, numpy 1.26", "PyTorch, numpy 2")
MINDSPORE = ("MindSpore, numpy 1.26", "MindSpore, numpy 2")

# (row, columns, pattern of test names): a test is evidence for the cells whose pattern it matches.
EVIDENCE = (
    ("forward", NUMPY, r"test_call_\w+\.test_(inputs_go_by|broadcasting_is)"),
    ("forward", ("C++",), r"(Function|Class)Kernel\."),
    ("forward", ("C",), r"CApi\."),
    ("forward", TORCH, r"test_call\.test_(values_are|torch_ops)"),
    ("forward", MINDSPORE, r"test_values\.test_values_are"),
    ("gradient", TORCH, r"test_gradient\.test_(gradients_are|gradcheck)"),
    ("gradient", MINDSPORE, r"test_values\.test_gradients_are"),
    ("gradient rule in Python", TORCH, r"test_bprop\.test_(a_rule_gives|gradcheck_of)"),
    ("gradient rule in Python", MINDSPORE, r"test_bprop_kinds\.test_every_kind"),
    ("second order", TORCH, r"test_gradient\.test_second_derivatives"),
    ("second order", MINDSPORE, r"test_second\.test_(a_backward|a_rule_of_diff)"),
    ("compiled mode", TORCH, r"test_compile\.test_compiled_values"),
    ("compiled mode", MINDSPORE, r"test_values\.test_every_mode_has"),
    ("export", TORCH, r"test_compile\.test_export"),
    ("shapes unknown until run time", MINDSPORE, r"test_dynamic\.test_(values|gradients)"),
    ("data parallel, two processes", MINDSPORE, r"test_data_parallel\."),
    ("vmap", TORCH, r"test_compile\.test_vmap"),
    ("vmap", MINDSPORE, r"test_networks\.test_vmap"),
    ("torch.func.grad, vjp, jacrev", TORCH, r"test_transforms\.test_(func_grad|vjp|vmap_of_grad)"),
    ("any strides", NUMPY, r"test_call_memory\.test_(the_values_count|views_go_into)"),
    ("any strides", ("C++",), r"(\w+/)?StridedInput\w*\.|CopyTensor\."),
    ("any strides", TORCH, r"test_call\.test_(inputs_of_any_strides|views_of_every)"),
    ("any strides", MINDSPORE, r"test_inputs\.test_(views_give|a_gradient_that_is_no_dense)"),
    ("dtype columns", NUMPY, r"test_call_dtypes\.test_(every_listed_dtype|mixed_floats_go)"),
    ("dtype columns", ("C++",), r"SelectColumn\."),
    ("dtype columns", TORCH, r"test_call\.test_(each_float_column|mixed_floats)"),
    ("dtype columns", MINDSPORE, r"test_inputs\.test_(each_float_column|mixed_floats)"),
    ("empty and 0-d tensors", NUMPY, r"test_call_memory\.test_(empty_arrays|0_d_arrays)"),
    ("empty and 0-d tensors", ("C++",), r"Empty\."),
    ("empty and 0-d tensors", TORCH, r"test_(call|gradient)\.test_(no_elements|empty_outputs)"),
    ("empty and 0-d tensors", MINDSPORE, r"test_inputs\.test_(no_elements|no_rows)"),
    ("several outputs", NUMPY, r"test_call_arguments\.test_several_outputs"),
    ("several outputs", ("C++",), r"Outputs\."),
    ("several outputs", TORCH, r"test_gradient\.test_unused_outputs"),
    ("several outputs", MINDSPORE, r"test_outputs\.test_(one_of_two|an_unused)"),
    ("optional inputs", NUMPY, r"test_call_arguments\.test_a\w+_optional_input"),
    ("optional inputs", TORCH, r"test_bprop\.test_an_absent_optional_input"),
    ("optional inputs", MINDSPORE, r"test_values\.test_values_are"),
    ("attributes", NUMPY, r"test_call_arguments\.test_attributes_"),
    ("attributes", ("C++",), r"ResolveAttrs\."),
    ("attributes", TORCH, r"test_call\.test_attributes"),
    ("attributes", MINDSPORE, r"test_attributes\.test_attributes_of_every"),
    ("errors with words", NUMPY, r"test_(call_arguments|kernel_errors)\.test_(wrong|a_kernels)"),
    ("errors with words", ("C++",), r"(\w+/)?ErrorCase\w*\."),
    ("errors with words", TORCH, r"test_call\.test_(wrong_arguments|a_kernel_that_fails)"),
    ("errors with words", MINDSPORE, r"test_misuse\.test_every_mode"),
)


def results(folder: Path) -> Iterator[Result]:
    for file in sorted(folder.glob("*.xml")):
        for case in ElementTree.parse(file).getroot().iter("testcase"):
            module = case.get("classname", "").rsplit(".", 1)[-1]
            name = case.get("name", "")
            if file.stem.startswith("python-"):
                name = f"{module}.{name}"
            # CTest writes the test's fate to an attribute, pytest to child elements.
            fate = case.get("status", "")
            skipped = case.find("skipped") is not None or fate in ("disabled", "notrun")
            failed = (
                any(case.find(kind) is not None for kind in ("failure", "error")) or fate == "fail"
            )
            yield Result(file.stem, name, not failed and not skipped, skipped)


def cell(found: list[Result], row: str, column: str) -> str:
    patterns = [pattern for name, columns, pattern in EVIDENCE if name == row and column in columns]
    if not patterns:
        return "-"
    shown = False
    for suite in COLUMNS[column]:
        of_suite = [result for result in found if result.suite == suite]
        # Each piece of evidence has to be there: a renamed test must not leave a yes behind.
        passed = []
        for pattern in patterns:
            matching = [result for result in of_suite if re.match(pattern, result.name)]
            if any(not result.passed and not result.skipped for result in matching):
                return "FAILS"
            passed.append(any(result.passed for result in matching))
        shown = shown or all(passed)
    return "yes" if shown else "not run"


def table(found: list[Result]) -> str:
    rows = list(dict.fromkeys(row for row, _, _ in EVIDENCE))
    lines = ["| | " + " | ".join(COLUMNS) + " |", "| --- " * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        cells = " | ".join(cell(found, row, column) for column in COLUMNS)
        lines.append(f"| {row} | {cells} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "test-results")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    old = arguments.readme.read_text(encoding="utf-8")
    new = replaced(old, BEGIN, END, table(list(results(arguments.results))))
    if arguments.check:
        if new != old:
            print(
                "error: the support table in the README is not that of the results; write it with "
                "`make support-table`:",
                *difflib.unified_diff(
                    old.splitlines(), new.splitlines(), "README", "results", n=0, lineterm=""
                ),
                sep="\n",
                file=sys.stderr,
            )
        return int(new != old)
    arguments.readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
