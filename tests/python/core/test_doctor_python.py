# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: the Python that is asked, and its module opwright."""

import os
import subprocess
import sys

import pytest
from doctor import GOOD, PACKAGE, Answer, ask, ask_of
from fake_environment import Environment, program


def test_without_python_it_says_so_and_goes_on(tmp_path):
    answer = ask(PATH=tmp_path)
    answer.says("Python", "note", "no python3 in PATH", "--python")
    answer.says("package", "ok")
    assert "PyTorch" not in answer.checks("ok", "note", "warning", "error")


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_python_that_is_named_and_not_there_is_an_error(how, tmp_path):
    if how == "option":
        answer = ask("--python", tmp_path / "none", PATH=tmp_path)
        answer.says("Python", "error", f"--python {tmp_path}/none", "give the path")
    else:
        answer = ask(PATH=os.environ["PATH"], VIRTUAL_ENV=tmp_path)
        answer.says("Python", "error", f"VIRTUAL_ENV {tmp_path}", "unset VIRTUAL_ENV")


def test_the_active_environment_comes_before_path_and_the_option_before_both(environment, tmp_path):
    other = Environment(tmp_path / "other")
    other.program("python3", f'exec {other.python} "$@"')
    path = {"PATH": f"{other.bin}:/usr/bin:/bin"}
    assert ask(**path).report["python"] == str(other.bin / "python3")
    path["VIRTUAL_ENV"] = environment.folder
    assert ask(**path).report["python"] == str(environment.python)
    assert ask("--python", other.python, **path).report["python"] == str(other.python)


def test_python_m_opwright_asks_the_python_that_runs_it():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "VIRTUAL_ENV": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-m", "opwright", "doctor", "--format", "json"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert Answer(done).report["python"] == sys.executable


def test_a_python_that_hangs_is_ended(tmp_path):
    slow = program(tmp_path / "python", "sleep 1000 & sleep 1000")
    answer = ask("--python", slow, "--timeout", 0.3, PATH="/usr/bin:/bin", CXX=tmp_path / "no")
    answer.says("Python", "error", "gave no answer in time", "--timeout")


def test_a_python_that_does_not_start_is_an_error(tmp_path):
    broken = program(tmp_path / "python", "echo no encodings >&2; exit 3")
    answer = ask("--python", broken, PATH=tmp_path)
    answer.says("Python", "error", "does not run (exit code 3): no encodings", "make the env")


def test_a_python_that_is_too_old_is_an_error(tmp_path):
    old = program(tmp_path / "python", r"printf '\nopwright-doctor\tversion\t3.9.2\n'")
    answer = ask("--python", old, PATH="/usr/bin:/bin")
    answer.says("Python", "error", "3.9.2", "newer Python")


MODULE = {
    "absent": (None, "warning", "not installed for", "pip install ."),
    "another version": ("__version__ = '0.0.1'", "error", "0.0.1 in ", "-m opwright"),
    "another place": (GOOD, "note", "not the one of this command line", "-m opwright"),
    "fails": ("import no_such_thing", "error", "No module named 'no_such_thing'", "pip install ."),
    "lacks its backend": ("import nanobind_backend", "error", "nanobind", "'nanobind-backend>=1"),
    "ends": ("import os; os.abort()", "error", "ends Python (exit code 134)", "pip install ."),
    "leaves": ("raise SystemExit(5)", "error", "SystemExit: 5", "pip install ."),
}


@pytest.mark.parametrize(("text", "level", "found", "cure"), MODULE.values(), ids=MODULE)
def test_the_module_opwright_must_import_and_be_of_this_version(text, level, found, cure, tmp_path):
    made = Environment(tmp_path / "environment").install("numpy", "1.26.4")
    if text is not None:
        made.install("opwright", "0", text=text)
    ask_of(made).says("opwright", level, found, cure)


def test_a_module_that_hangs_leaves_the_rest_of_the_answer(tmp_path):
    made = Environment(tmp_path / "environment").install("numpy", "1.26.4")
    made.install("opwright", "0", text="import time; time.sleep(1000)")
    answer = ask_of(made, "--timeout", 5)
    answer.says("Python", "error", "hangs in import opwright")
    answer.says("numpy", "ok", "1.26.4")


def test_without_numpy_the_module_cannot_work(tmp_path):
    made = Environment(tmp_path / "environment")
    ask_of(made).says("numpy", "ok", "not installed")
    made.install("opwright", "0", text=GOOD)
    ask_of(made).says("numpy", "error", "not installed", "pip install 'numpy>=1.26'")


def test_packages_are_found_by_a_relative_path_too(environment, tmp_path):
    other = Environment(tmp_path / "other").install("torch", "2.13.0")
    answer = ask_of(environment, cwd=other.packages.parent, PYTHONPATH="site-packages")
    answer.says("PyTorch", "ok", "2.13.0")
