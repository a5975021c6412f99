# SPDX-License-Identifier: Apache-2.0
"""Runs the fenced blocks of a Markdown page, in order, as its reader would.

A block after a line "`FILE`" is written to FILE; other ```bash and ```python blocks run.
A ```text block after one that ran holds what it prints: "..." stands for anything.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^(?:`([^\s`]+)`\n\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("bash", "python")
# Set-up and the checkout's own targets: other tests run those.
NOT_HERE = re.compile(r"^(make|pip install|git clone)\b", re.MULTILINE)


class Block(NamedTuple):
    language: str
    file: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[2], found[1] or "", found[3], text.count("\n", 0, found.start()) + 1)
        for found in FENCE.finditer(text)
    ]


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def skipped(block: Block) -> bool:
    return block.language in RUN and not block.file and NOT_HERE.search(block.text) is not None


def run_page(page: Path, folder: Path) -> list[str]:
    """Runs the blocks of the page in the folder, but for those skipped; returns what was run."""
    ran, printed = [], None
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, encoding="utf-8")
            printed = None
        elif skipped(block):
            printed = None
        elif block.language in RUN:
            command = {
                "bash": [
                    "bash",
                    "-euc",
                    'opwright() { "$PYTHON" -m opwright "$@"; }\n'
                    'python() { "$PYTHON" "$@"; }\n' + block.text,
                ],
                "python": [sys.executable, "-c", block.text],
            }[block.language]
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.returncode == 0, f"{where} ended with {done.returncode}:\n{done.stdout}"
            printed = done.stdout
            ran.append(block.text)
        elif block.language == "text" and printed is not None:
            pattern = ".*".join(map(re.escape, block.text.strip().split("...")))
            assert re.search(pattern, printed, re.DOTALL), (
                f"{where} is not what is printed:\n{printed}"
            )
            printed = None
    return ran


def environment() -> dict[str, str]:
    """As in an activated environment: a launcher finds its programs on the PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PYTHON": sys.executable, "PATH": path, "NO_COLOR": "1"}
