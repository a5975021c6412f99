# SPDX-License-Identifier: Apache-2.0
"""The table of error ids, and the page that is made of it."""

import importlib.util
import re
from pathlib import Path

from opwright import _core

ROOT = Path(__file__).resolve().parents[3]
ROWS = _core.error_ids()


def test_every_id_has_summary_cause_and_cure():
    for name, acl_code, summary, cause, cure in ROWS:
        assert re.fullmatch(r"(MD|BD|LD|RG|CL|GR|EX|CK|CA|IN)\d{3}", name)
        assert acl_code >= 0
        for text in (summary, cause, cure):
            assert text.strip() == text != "" and "\n" not in text, name
        assert cause.endswith(".") and cure.endswith("."), name


def test_ids_are_unique():
    names = [row[0] for row in ROWS]
    assert len(names) == len(set(names))


def test_every_id_that_the_code_uses_is_in_the_table():
    known = {row[0] for row in ROWS}
    used = re.compile(r"\"((?:MD|BD|LD|RG|CL|GR|EX|CK|CA|IN)\d{3})\"")
    unknown = []
    for folder, pattern in (
        ("src", "*.cc"),
        ("entries", "*.cc"),
        ("python", "*.cc"),
        ("python", "*.py"),
        ("compat", "*.py"),
    ):
        for path in (ROOT / folder).rglob(pattern):
            for name in used.findall(path.read_text(encoding="utf-8")):
                if name not in known:
                    unknown.append(f"{path.relative_to(ROOT)}: {name}")
    assert not unknown, "\n".join(unknown)


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
