# SPDX-License-Identifier: Apache-2.0
"""What README.md and the pages of docs/ show is what happens."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import snippets

import opwright

ROOT = Path(__file__).resolve().parents[3]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_every_snippet_of_the_readme_runs(tmp_path):
    ran = snippets.run_page(README, tmp_path)
    assert any("opwright check" in text for text in ran)
    assert any("autograd.grad" in text for text in ran)


def test_only_these_blocks_are_not_run():
    skipped = [
        (page.name, [line.split("#")[0].strip() for line in block.text.splitlines()])
        for page in [README, *PAGES]
        for block in snippets.blocks(page)
        if snippets.skipped(block)
    ]
    assert skipped == [("README.md", ["pip install ."]), ("README.md", ["make demo", "make test"])]


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_every_snippet_of_a_page_runs(page, tmp_path):
    if not any(b.file or b.language in ("bash", "python") for b in snippets.blocks(page)):
        pytest.skip("shows nothing that runs")
    snippets.run_page(page, tmp_path)


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.stem)
def test_operator_folders_of_a_page_build(page, tmp_path):
    folders = set()
    for block in snippets.blocks(page):
        if not block.file:
            continue
        target = tmp_path / block.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
        if target.name == "op.json":
            folders.add(target.parent)
    if not folders:
        pytest.skip("shows no operator folder")
    for folder in folders:
        assert opwright.load(folder).operators


JSON_BLOCKS = [
    pytest.param(block.text, id=f"{page.stem}-{block.line}")
    for page in [README, *PAGES]
    for block in snippets.blocks(page)
    if block.language == "json" and not block.file
]


@pytest.mark.parametrize("text", JSON_BLOCKS)
def test_metadefs_without_a_kernel_are_valid(text, tmp_path):
    json.loads(text)
    (tmp_path / "op.json").write_text(text)
    command = [sys.executable, "-m", "opwright", "validate", tmp_path / "op.json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "0 warnings" in done.stdout


def test_links_name_files_that_are_there():
    missing = []
    for page in [README, *PAGES]:
        for link in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", snippets.prose(page)):
            if not (page.parent / link).exists():
                missing.append(f"{page.relative_to(ROOT)}: {link}")
    assert not missing, "\n".join(missing)


def test_the_changes_hold_no_measured_figures():
    """They grow old: docs/benchmarks.md is written anew, from results."""
    figure = re.compile(r"\d\s*(?:times|ns|us|ms|s|seconds|minutes|%)(?!\w)")
    wrong = [
        f"{file.name}: {line}"
        for file in sorted((ROOT / "changelog").glob("*.md"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if figure.search(line)
    ]
    assert not wrong, "\n".join(wrong)
