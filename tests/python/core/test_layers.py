# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: each layer sees only those below it, and a few headers have one user."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Layer -> what it may include besides itself and the public headers.
BELOW = {
    "src/base": set(),
    "src/metadef": {"base"},
    "src/runtime": {"base"},
    "src/registry": {"base", "metadef", "runtime"},
    "src/build": {"base", "metadef"},
    "src/formula": {"base", "metadef", "runtime"},
    "src/check": {"base", "metadef", "runtime", "registry", "build", "formula"},
    "src/doctor": {"base", "registry", "build"},
    "src/cli": {"base", "metadef", "runtime", "registry", "build", "formula", "check", "doctor"},
    "entries": {"base", "runtime"},
    "bridges": {"base", "runtime", "registry", "entries"},
    "python/bind": {"base", "runtime", "registry", "build", "check", "entries"},
}
LAYERS = {path.removeprefix("src/") for path in BELOW}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)


def sources(folder):
    return [
        path
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in {".h", ".c", ".cc", ".inc", ".def"}
    ]


def includes(path):
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def users_of(prefix):
    """The files of ours that include a header whose name starts so."""
    return [
        str(path.relative_to(ROOT))
        for folder in ("src", "entries", "bridges", "include", "python")
        for path in sources(folder)
        if any(name.startswith(prefix) for name in includes(path))
    ]


def test_every_folder_of_src_is_a_known_layer():
    folders = {f"src/{path.name}" for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert folders <= set(BELOW), "say in BELOW what the new layer may include"


@pytest.mark.parametrize("layer", BELOW)
def test_a_layer_includes_only_what_lies_below(layer):
    own = layer.removeprefix("src/")
    wrong = []
    for path in sources(layer):
        for name in includes(path):
            first = name.split("/")[0]
            if first in LAYERS and "/" in name and first != own and first not in BELOW[layer]:
                wrong.append(f"{path.relative_to(ROOT)} includes {name}")
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
        if "/" in name and name.split("/")[0] in LAYERS
    ]
    assert not wrong, "\n".join(wrong)


def test_one_file_includes_the_json_library():
    assert len(users_of("nlohmann/")) <= 1, users_of("nlohmann/")


def test_only_the_main_file_includes_the_command_line_library():
    assert set(users_of("CLI/")) <= {"src/cli/main.cc"}
