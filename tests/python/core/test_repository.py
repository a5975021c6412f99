# SPDX-License-Identifier: Apache-2.0
"""What holds for every file of the repository: licence line, length, words."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CODE = {".c", ".cc", ".cpp", ".cmake", ".h", ".proto", ".py", ".sh"}
LONGEST = 600

# Spelled in pieces, so that this file passes its own test.
FORBIDDEN_WORD = re.compile("gui" + "de", re.IGNORECASE)
DEVELOPERS_PATHS = re.compile(r"(?<![\w.$}])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+)/")


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def text_of(path):
    """None for a file that is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def is_code(path):
    if path.name == "CMakeLists.txt":  # a mere list of the folder's files needs no licence
        text = text_of(path)
        return not text.startswith("target_sources(") and text.count("\n") >= 10
    return path.suffix in CODE or path.name == "Makefile"


def report(wrong):
    assert not wrong, "\n".join(wrong)


def test_every_source_file_names_its_licence_in_its_first_lines():
    report(
        [
            str(path.relative_to(ROOT))
            for path in tracked_files()
            if is_code(path)
            and "tests/data" not in str(path)
            and "SPDX-License-Identifier: Apache-2.0" not in text_of(path)[:200]
        ]
    )


def test_no_source_file_is_longer_than_600_lines():
    lengths = {path: text_of(path).count("\n") for path in tracked_files() if is_code(path)}
    report([f"{path.relative_to(ROOT)}: {n} lines" for path, n in lengths.items() if n > LONGEST])


@pytest.mark.parametrize(
    "pattern", [FORBIDDEN_WORD, DEVELOPERS_PATHS], ids=["forbidden word", "path of a machine"]
)
def test_public_text_is_free_of(pattern):
    wrong = []
    for path in tracked_files():
        for number, line in enumerate((text_of(path) or "").splitlines(), 1):
            if pattern.search(line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    report(wrong)


def test_examples_use_public_names_only():
    private = re.compile(r"\bopwright(?:\.\w+)*(?:\._(?!_)| import _)")
    report(
        [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
            for path in sorted((ROOT / "examples").rglob("*.py"))
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if private.search(line)
        ]
    )
