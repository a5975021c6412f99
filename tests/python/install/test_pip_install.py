# SPDX-License-Identifier: Apache-2.0
"""`pip install .` into an empty environment, as a user does it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a program of an environment that holds Opwright and what it pulls in, nothing else."""
    venv = tmp_path_factory.mktemp("venv")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    # Neither the build tree nor the environment of the tests may help.
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "VIRTUAL_ENV", "CMAKE_PREFIX_PATH"}
    }

    def run(program, *arguments):
        done = subprocess.run(
            [venv / "bin" / program, *arguments],
            cwd=elsewhere,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()

    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    run("python", "-m", "pip", "install", "--disable-pip-version-check", str(ROOT))
    return run


def test_the_package_imports_and_knows_its_version(run):
    version = run("python", "-c", "import opwright; print(opwright.__version__)")
    assert f"opwright-{version}" in run(
        "python", "-c", "import importlib.metadata as m; print(m.distribution('opwright')._path)"
    )


def test_the_package_lies_in_the_environment_with_programs_that_start(run):
    folder = Path(
        run("python", "-c", "import opwright, os; print(os.path.dirname(opwright.__file__))")
    )
    assert "site-packages" in folder.parts
    run("opwright", "--help")
    for program in ("opwright", "aoc"):
        assert os.access(folder / "_lib" / program, os.X_OK)
