# SPDX-License-Identifier: Apache-2.0
"""The parts of README.md that tools write, between two markers."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def replaced(text: str, begin: str, end: str, block: str) -> str:
    """The text with what stands between the two markers replaced; both must be there once."""
    if text.count(begin) != 1 or text.count(end) != 1:
        raise SystemExit(f"error: the markers {begin} and {end} do not stand in the file once each")
    head, rest = text.split(begin)
    return f"{head}{begin}\n{block}\n{end}{rest.split(end)[1]}"
