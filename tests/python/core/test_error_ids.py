# SPDX-License-Identifier: Apache-2.0
"""The table of error ids, and the page that is made of it."""

import importlib.util
import re
from pathlib import Path

from opwright import _core

ROOT = Path(__file__).resolve().parents[3]
ROWS = _core.error_ids()
ID = re.compile(r"\b(?:MD|BD|LD|RG|CL|GR|CK|CA|IN)\d{3}\b")


def test_every_id_has_summary_cause_and_cure():
    for name, acl_code, summary, cause, cure in ROWS:
        assert ID.fullmatch(name)
        assert acl_code >= 0
        for text in (summary, cause, cure):
            assert text.strip() == text != "" and "\n" not in text, name
        assert cause.endswith(".") and cure.endswith("."), name


def test_ids_are_unique():
    names = [row[0] for row in ROWS]
    assert len(names) == len(set(names))


def named_in(folders, suffixes):
    """Id -> the files of the folders that name it, in their text or as their own name."""
    found = {}
    for path in (path for folder in folders for path in sorted((ROOT / folder).rglob("*"))):
        if path.suffix not in suffixes or "__pycache__" in path.parts:
            continue
        text = f"{path.name}\n{path.read_text(encoding='utf-8')}"
        for name in ID.findall(text):
            found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    return found


def test_the_ids_of_the_code_are_those_of_the_tables():
    used = named_in(
        ("src", "entries", "bridges", "include", "python", "compat"), {".h", ".cc", ".cpp", ".py"}
    )
    assert {"bridges/mindspore.cc", "include/opwright/opwright.h"} <= set().union(*used.values())
    known = {row[0] for row in ROWS}
    assert not {name: files for name, files in used.items() if name not in known}
    assert not known - set(used), "no code gives these: delete their rows"


def test_every_id_has_a_case():
    tested = named_in(("tests",), {".h", ".c", ".cc", ".cpp", ".py", ".json", ".txt"})
    missing = [row[0] for row in ROWS if row[0] not in tested]
    assert not missing, "no test names these: write one that raises them"


def test_the_page_of_errors_is_the_tables():
    spec = importlib.util.spec_from_file_location(
        "generate_errors", ROOT / "tools" / "generate_errors.py"
    )
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert page == generator.page(), (
        "run: PYTHONPATH=build/dev python tools/generate_errors.py > docs/errors.md"
    )
