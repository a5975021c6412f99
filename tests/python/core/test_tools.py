# SPDX-License-Identifier: Apache-2.0
"""The tables of README.md and docs/benchmarks.md say what the results say, and no more."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
MARKERS = "<!-- support table: tools/support_table.py -->\nold\n<!-- end of the support table -->"
NUMBERS = (
    "<!-- measured numbers: tools/benchmarks_page.py -->\nold\n<!-- end of the measured numbers -->"
)


def run(tool, *arguments):
    command = [sys.executable, ROOT / "tools" / tool, *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def support(tmp_path, cases):
    """The row "any strides" of the table, by column; cases: suite -> test name -> child element."""
    for suite, tests in cases.items():
        listed = "".join(
            f'<testcase classname="tests.python.torch.{name.split(".")[0]}" '
            f'name="{name.split(".")[1]}">{child}</testcase>'
            for name, child in tests.items()
        )
        (tmp_path / f"{suite}.xml").write_text(
            f"<testsuites><testsuite>{listed}</testsuite></testsuites>"
        )
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{MARKERS}\nafter\n")
    done = run("support_table.py", "--results", tmp_path, "--readme", readme)
    assert done.returncode == 0, done.stderr
    lines = readme.read_text().splitlines()
    assert lines[0] == "before" and lines[-1] == "after"
    cells = {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:-1]]
        for line in lines
        if "|" in line
    }
    return dict(zip(cells[""], cells["any strides"], strict=True))


STRIDES = "test_call.test_inputs_of_any_strides_give_the_same_values[one]"
VIEWS = "test_call.test_views_of_every_kind_are_read_by_their_strides"


def python_ids(folder):
    for file in (ROOT / "tests/python" / folder).glob("test_*.py"):
        for name in re.findall(r"^def (test_\w+)", file.read_text(encoding="utf-8"), re.M):
            yield f"{file.stem}.{name}"


def ctest_ids():
    for file in [*ROOT.glob("tests/cpp/**/*_test.cc"), *ROOT.glob("tests/abi/*_test.cc")]:
        text = file.read_text(encoding="utf-8")
        of_suite = dict(
            (suite, prefix)
            for prefix, suite in re.findall(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w+),\s*(\w+)", text)
        )
        for kind, suite, name in re.findall(r"^TEST(_F|_P|)\((\w+), (\w+)\)", text, re.M):
            # An instance's name in CTest ends in that of its parameter.
            yield f"{of_suite[suite]}/{suite}.{name}/0" if kind == "_P" else f"{suite}.{name}"


def test_every_piece_of_evidence_is_a_test_that_is_there(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    table = runpy.run_path(str(ROOT / "tools/support_table.py"))
    ids = {
        table["NUMPY"]: list(python_ids("core")),
        table["TORCH"]: list(python_ids("torch")),
        table["MINDSPORE"]: list(python_ids("mindspore")),
        ("C++",): list(ctest_ids()),
        ("C",): list(ctest_ids()),
    }
    without = [
        (row, pattern)
        for row, columns, pattern in table["EVIDENCE"]
        if not any(re.match(pattern, name) for name in ids[columns])
    ]
    assert not without


def test_without_results_nothing_is_supported(tmp_path):
    assert set(support(tmp_path, {}).values()) == {"not run", "-"}


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ({STRIDES: "", VIEWS: ""}, "yes"),
        ({STRIDES: "", VIEWS: "<failure/>"}, "FAILS"),
        ({STRIDES: "<error/>"}, "FAILS"),
        ({STRIDES: "<skipped/>"}, "not run"),
        ({"test_call.test_something_else": ""}, "not run"),
    ],
)
def test_a_cell_is_what_its_tests_are(tests, said, tmp_path):
    row = support(tmp_path, {"python-torch-numpy1": tests})
    assert row["PyTorch, numpy 1.26"] == said
    assert row["PyTorch, numpy 2"] == "not run"


PASSED = (
    '<testcase name="CopyTensor.A" classname="CopyTensor.A" status="run"/>'
    '<testcase name="Strides/StridedInput.B/0" classname="Strides/StridedInput.B/0" status="run"/>'
)


@pytest.mark.parametrize("suite", ["cpp-dev", "cpp-asan-ubsan"])
def test_one_suite_of_c_plus_plus_suffices(suite, tmp_path):
    (tmp_path / f"{suite}.xml").write_text(f"<testsuite>{PASSED}</testsuite>")
    assert support(tmp_path, {})["C++"] == "yes"


def test_a_failure_in_either_suite_is_one(tmp_path):
    (tmp_path / "cpp-dev.xml").write_text(f"<testsuite>{PASSED}</testsuite>")
    (tmp_path / "cpp-asan-ubsan.xml").write_text(
        f"<testsuite>{PASSED.replace('run', 'fail')}</testsuite>"
    )
    assert support(tmp_path, {})["C++"] == "FAILS"


def test_a_check_says_what_is_stale_and_writes_nothing(tmp_path):
    readme = tmp_path / "README.md"
    (tmp_path / "cpp-dev.xml").write_text(f"<testsuite>{PASSED}</testsuite>")
    arguments = ("support_table.py", "--results", tmp_path, "--readme", readme)
    support(tmp_path, {})
    assert run(*arguments, "--check").returncode == 0
    (tmp_path / "cpp-dev.xml").unlink()
    before = readme.read_text()
    done = run(*arguments, "--check")
    assert done.returncode == 1 and readme.read_text() == before
    assert "make support-table" in done.stderr and "\n-| any strides | not run" in done.stderr


def test_a_test_run_checks_the_table_and_leaves_it(tmp_path):
    script = (ROOT / "tools/test.sh").read_text(encoding="utf-8")
    (line,) = [line for line in script.splitlines() if "support_table.py" in line]
    assert line.endswith("--check")


def test_a_ctest_failure_is_a_failure(tmp_path):
    (tmp_path / "cpp-dev.xml").write_text(
        '<testsuite><testcase name="CopyTensor.A" classname="CopyTensor.A" status="fail">'
        "<failure/></testcase></testsuite>"
    )
    assert support(tmp_path, {})["C++"] == "FAILS"


def test_a_file_without_markers_is_refused(tmp_path):
    (tmp_path / "README.md").write_text("no markers\n")
    done = run("support_table.py", "--results", tmp_path, "--readme", tmp_path / "README.md")
    assert done.returncode != 0
    assert "markers" in done.stderr


def test_benchmarks_of_every_format_are_written_with_goal_and_ratio(tmp_path):
    results = tmp_path / "results"
    results.mkdir()
    own = {
        "name": "numpy call",
        "value": 0.6,
        "unit": "us",
        "peer": "add",
        "peer_value": 0.3,
        "goal": 0.5,
    }
    (results / "x_bench.json").write_text(
        json.dumps({"machine": {"cores": 2}, "command": "python x", "rows": [own]})
    )
    (results / "core_bench.json").write_text(
        json.dumps(
            {"context": {}, "benchmarks": [{"name": "Call/8", "real_time": 40, "time_unit": "ns"}]}
        )
    )
    seconds = {"call": {"C++ TORCH_LIBRARY": 2e-6, "lib.op": 5e-6}}
    (results / "torch_bench.json").write_text(
        json.dumps({"machine": {}, "command": "python y", "results": seconds})
    )
    (tmp_path / "README.md").write_text(NUMBERS)
    page = tmp_path / "benchmarks.md"
    done = run(
        "benchmarks_page.py",
        "--results",
        results,
        "--page",
        page,
        "--readme",
        tmp_path / "README.md",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(page)
    assert "| numpy call | 0.6 | us | add | 0.3 | 2 | 0.5 | **no** |" in page.read_text()
    assert "| Call/8 | 40 | ns |" in page.read_text()
    assert "call, 8 float32: lib.op | 5 | us | C++ TORCH_LIBRARY | 2 | 2.5 |" in page.read_text()
    assert "Not measured yet" in (tmp_path / "README.md").read_text()
