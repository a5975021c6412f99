# SPDX-License-Identifier: Apache-2.0
"""The example as a script, the validator, aoc, several ranks, an installation by pip."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import opwright

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "acl_form"
PROGRAMS = Path(opwright.__file__).parent / "_lib"


def environment(**more):
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path[1:]),
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        **more,
    }


def start(*words, cwd=None, **more):
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_example_runs_as_it_stands(tmp_path):
    done = start(sys.executable, EXAMPLE / "register.py", cwd=tmp_path, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "element_add: [11. 22. 33.]\nloss: 14.0 bias after a step: [0.5, 1.0, 1.5]\n"
    )


def test_the_validator_is_the_command_lines(tmp_path):
    (tmp_path / "bad.json").write_text('{"op_name": "element_add", "input_desc": [{}]}')
    good = (EXAMPLE / "element_add.json", EXAMPLE / "element_add_grad.json")
    for files in (good, (tmp_path / "bad.json",), (tmp_path / "nowhere.json",), ()):
        module = start(sys.executable, "-m", "metadef.validator", *files)
        program = start(PROGRAMS / "opwright", "validate", *files)
        assert (module.returncode, module.stdout, module.stderr) == (
            program.returncode,
            program.stdout,
            program.stderr,
        )
    assert start(sys.executable, "-m", "metadef.validator", *good).returncode == 0
    assert start(sys.executable, "-m", "metadef.validator", tmp_path / "bad.json").returncode == 1


def test_aoc_of_the_package_is_the_real_program():
    module = start(sys.executable, "-c", "import opwright_acl; opwright_acl.aoc()", "--version")
    assert module.stdout == start(PROGRAMS / "aoc", "--version").stdout != ""
    assert "aoc" in module.stdout


# P01
def test_a_rank_that_did_not_register_hears_so(library, tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(f"""
import os, acl, numpy as np
if os.environ.get("RANK", "0") == "0":
    acl.init()
    acl.ops.load_operator_library({str(library)!r})
    acl.op.register_operator("element_add")
    metadef = {str(EXAMPLE / "element_add.json")!r}
    acl.op.register_operator_model("element_add", metadef, "element_add")
acl.init()
print(os.getpid())
print(acl.ops.element_add(np.float32([1]), np.float32([2])))
""")
    first = start(sys.executable, script, RANK="0")
    assert first.returncode == 0 and first.stdout.endswith("[3.]\n"), first.stderr
    second = start(sys.executable, script, RANK="1")
    assert second.returncode == 1
    words = second.stderr.splitlines()[-1]
    assert "element_add is not registered in this process" in words
    assert f"process {second.stdout.strip()} (RANK=1)" in words
    assert "every process registers for itself" in words


def test_pip_installs_the_package_beside_opwright(tmp_path):
    if importlib.util.find_spec("setuptools") is None:
        pytest.skip("setuptools, the build backend, is not installed")
    venv = tmp_path / "venv"
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", "--system-site-packages", venv], check=True
    )
    # A copy: the backend writes beside the sources.
    source = shutil.copytree(ROOT / "compat", tmp_path / "compat")
    site = next((venv / "lib").glob("python*/site-packages"))
    (site / "outer.pth").write_text("\n".join(_site_folders()))
    pip = [sys.executable, "-m", "pip", "--python", venv / "bin/python", "install"]
    flags = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    plain = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*pip, *flags, source], env=plain, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

    def python(*words):
        return subprocess.run(
            [venv / "bin/python", *words], cwd=tmp_path, env=plain, capture_output=True, text=True
        )

    where = python("-c", "import acl; print(acl.__file__, acl.init())")
    assert where.returncode == 0, where.stderr
    assert str(site) in where.stdout and where.stdout.endswith(" 0\n")
    checked = python("-m", "metadef.validator", EXAMPLE / "element_add.json")
    assert checked.returncode == 0, checked.stderr
    aoc = subprocess.run([venv / "bin/aoc", "--version"], env=plain, capture_output=True, text=True)
    assert aoc.stdout.startswith("aoc (Opwright)"), aoc.stderr


def _site_folders():
    """The folders that this process finds packages in, without the checkout's compat."""
    return [folder for folder in sys.path if folder and Path(folder) != ROOT / "compat"]
