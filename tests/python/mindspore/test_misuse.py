# SPDX-License-Identifier: Apache-2.0
"""Every row of misuse.py with opwright.mindspore.Custom, in every mode: the same words, or
right."""

import importlib.util
import re

import misuse
import numpy as np
import pytest
from operator_libraries import ROOT

from opwright.mindspore import Custom


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return misuse.library(tmp_path_factory.mktemp("misuse") / "operators")


def load_table():
    spec = importlib.util.spec_from_file_location("table", ROOT / "tools" / "mistakes_table.py")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    return table


TABLE = load_table()
PAGE = dict(
    re.findall(
        r"^\| (.+?) \| .* \| (.+) \|$",
        (ROOT / "docs" / "mindspore-mistakes.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)


def first_line(error: Exception) -> str:
    """MindSpore puts words of its own around what a kernel says at run time."""
    text = str(error).split("\n")[0]
    return text.split("Error message is ")[-1]


@pytest.mark.parametrize("row", misuse.ROWS, ids=lambda row: row.name)
def test_every_mode_says_the_same(row, library, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # as the page's processes
    said = {}
    for mode in misuse.MODES:
        use = misuse.Use(Custom, library, mode, tmp_path)
        if row.due is None:
            result = row.use(use)
            np.testing.assert_array_equal(np.array(result), np.array(row.right), mode)
            assert PAGE[row.name] == "right"
            continue
        with pytest.raises(row.error) as caught:
            row.use(use)
        said[mode] = first_line(caught.value)
        assert row.due in said[mode], f"{mode}: {caught.value}"
        assert said[mode].rstrip().endswith("]"), f"{mode}: no id in: {caught.value}"
        page = TABLE.our_cell(TABLE.said_by(caught.value, library, str(tmp_path)))
        assert PAGE[row.name] == page, "run tools/mistakes_table.py"
    assert len(set(said.values())) <= 1, said


def test_the_page_of_mistakes_has_every_row():
    page = (ROOT / "docs" / "mindspore-mistakes.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| (.+?) \| ", page, re.MULTILINE)
    assert named == ["mistake", "---", *(row.name for row in misuse.ROWS)]
    for line in page.splitlines():  # what Opwright makes of it is never silence
        assert not line.endswith("accepted in silence |"), line
