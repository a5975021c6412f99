# SPDX-License-Identifier: Apache-2.0
"""The command line as the tests start it."""

import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("OPWRIGHT_BIN", str(ROOT / "build/dev/opwright/_lib/opwright"))


def run(*arguments, cwd=None):
    return subprocess.run(
        [BINARY, *map(str, arguments)], cwd=cwd, capture_output=True, encoding="utf-8", check=False
    )


def validate(files, cwd=None):
    """The parsed JSON report and the exit code."""
    result = run("validate", "--format", "json", *files, cwd=cwd)
    return json.loads(result.stdout), result.returncode
