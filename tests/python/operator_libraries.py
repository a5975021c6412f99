# SPDX-License-Identifier: Apache-2.0
"""Operator libraries for the tests of an adapter, built once a session. A conftest imports the
fixtures and has one of its own, `groups`: metadef and source by name."""

import json
import pathlib

import pytest

import opwright

ROOT = pathlib.Path(__file__).resolve().parents[2]


def write_operator(folder: pathlib.Path, metadef, source: str) -> pathlib.Path:
    """An operator folder of a metadef, or a list of them, and one source."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.json").write_text(json.dumps(metadef), encoding="utf-8")
    (folder / "kernel.cpp").write_text(source, encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory, groups):
    """built(name): the path of the library of a group, or of an example."""
    paths = {}

    def build(name: str) -> str:
        if name not in paths:
            folder = ROOT / "examples" / name
            if name in groups:
                folder = write_operator(tmp_path_factory.mktemp(name) / name, *groups[name])
            paths[name] = opwright.build(folder)
        return paths[name]

    return build


@pytest.fixture(scope="session")
def libraries(built):
    """libraries(name): the loaded library of a group."""
    loaded = {}

    def load(name: str) -> opwright.Library:
        if name not in loaded:
            loaded[name] = opwright.load(built(name))
        return loaded[name]

    return load
