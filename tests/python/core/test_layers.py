# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: each layer sees only those below it, and a few headers have one user."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def table():
    """Of ARCHITECTURE.md: layer -> what it may include besides itself and the public headers."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| `(src/\w+|entries|bridges|python/bind)` \|.*\| (.+) \|$", text, re.MULTILINE
    )
    return {folder: set(below.split(", ")) - {"nothing"} for folder, below in rows}


BELOW = table()
LAYERS = {folder.removeprefix("src/") for folder in BELOW}  # as an include names them
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


def sources(folder):
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".h", ".c", ".cc", ".inc", ".def"}
    ]


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def layer_of(name):
    """The layer that an included header belongs to; None when it is none of a layer."""
    return next((layer for layer in LAYERS if name.startswith(f"{layer}/")), None)


def reaches_up(folder, name):
    """Whether no file of the folder may include the header."""
    return layer_of(name) not in {None, folder.removeprefix("src/"), *BELOW[folder]}


def users_of(prefix):
    """The files of ours that include a header whose name starts so."""
    return [
        str(path.relative_to(ROOT))
        for folder in ("src", "entries", "bridges", "include", "python")
        for path in sources(folder)
        if any(name.startswith(prefix) for name in includes(path))
    ]


def test_the_table_has_each_layer_and_no_other():
    folders = {f"src/{path.name}" for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert set(BELOW) == folders | {"entries", "bridges", "python/bind"}
    assert all((ROOT / folder).is_dir() for folder in BELOW)
    assert set().union(*BELOW.values()) <= LAYERS


@pytest.mark.parametrize(
    "folder, name, wrong",
    [
        ("src/base", "base/text.h", False),
        ("src/base", "opwright/c_api.h", False),
        ("src/base", "metadef/metadef.h", True),
        ("src/registry", "python/bind/bind.h", True),
        ("src/cli", "entries/torch/schema.h", True),
        ("python/bind", "entries/torch/schema.h", False),
    ],
)
def test_a_layer_is_known_by_the_whole_of_its_folder(folder, name, wrong):
    assert reaches_up(folder, name) == wrong


@pytest.mark.parametrize("folder", BELOW)
def test_a_layer_includes_only_what_lies_below(folder):
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources(folder)
        for name in includes(path)
        if reaches_up(folder, name)
    ]
    assert not wrong, "\n".join(wrong)


def test_a_source_names_headers_from_the_root_of_the_tree():
    """A path with .. would slip past the test above."""
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for folder in ("src", "entries", "bridges", "python/bind")
        for path in sources(folder)
        for name in includes(path)
        if ".." in Path(name).parts
    ]
    assert not wrong, "\n".join(wrong)


def test_public_headers_include_only_public_headers():
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources("include")
        for name in includes(path)
        if layer_of(name) is not None
    ]
    assert not wrong, "\n".join(wrong)


def test_one_file_includes_the_json_library():
    assert len(users_of("nlohmann/")) <= 1, users_of("nlohmann/")


def test_only_the_main_file_includes_the_command_line_library():
    assert set(users_of("CLI/")) <= {"src/cli/main.cc"}
