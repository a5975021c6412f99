# SPDX-License-Identifier: Apache-2.0
"""Asking the doctor: in an environment of variables, and what it answers."""

import json
import os
import subprocess
from pathlib import Path

from command import BINARY

import opwright

PACKAGE = Path(opwright.__file__).parent
GOOD = f"__version__ = {opwright.__version__!r}\n"
VARIABLES = (
    "CC CXX LD_LIBRARY_PATH LD_PRELOAD MS_CUSTOM_AOT_WHITE_LIST PYTHONPATH PYTHONHOME VIRTUAL_ENV"
)


class Answer:
    def __init__(self, done):
        self.code = done.returncode
        assert done.stderr == "" and self.code in (0, 1), done
        self.report = json.loads(done.stdout)
        self.findings = self.report["findings"]
        assert (self.code == 1) == (self.report["errors"] > 0)

    def __getitem__(self, check):
        (found,) = (f for f in self.findings if f["check"] == check)
        assert (found["cure"] == "") == (found["level"] == "ok"), found
        return found

    def says(self, check, level, found="", cure=""):
        got = self[check]
        assert got["level"] == level and found in got["found"] and cure in got["cure"], got

    def checks(self, *levels):
        return {f["check"] for f in self.findings if f["level"] in levels}


def start(*arguments, binary=BINARY, cwd=None, **env):
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES.split()}
    return subprocess.run(
        [binary, "doctor", *map(str, arguments)],
        cwd=cwd,
        env={**kept, **{k: str(v) for k, v in env.items()}},
        capture_output=True,
        encoding="utf-8",
    )


def ask(*arguments, **options):
    return Answer(start("--format", "json", *arguments, **options))


def ask_of(environment, *arguments, **options):
    """Only the environment's programs are in PATH: no compiler, which also makes it fast."""
    options = {"PATH": environment.bin, "VIRTUAL_ENV": environment.folder, **options}
    return ask(*arguments, **options)
