# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: Opwright's own files."""

import shutil
from pathlib import Path

import pytest
from doctor import PACKAGE, ask


@pytest.fixture
def package(tmp_path):
    """A copy of the installed files, where some can be taken away."""
    copy = tmp_path / "opwright"
    (copy / "_lib").mkdir(parents=True)
    for name in ("libopwright.so", "libopwright_entries.a", "libopwright_mindspore.so", "opwright"):
        shutil.copy2(PACKAGE / "_lib" / name, copy / "_lib" / name)
    shutil.copytree(PACKAGE / "include", copy / "include")
    shutil.copytree(PACKAGE / "cmake", copy / "cmake")
    (copy / "__init__.py").touch()
    return copy


@pytest.mark.parametrize(
    "name",
    [
        "_lib/libopwright_entries.a",
        "_lib/libopwright_mindspore.so",
        "include/opwright/c_api.h",
        "cmake/OpwrightConfig.cmake",
    ],
)
def test_a_missing_file_is_named(name, package, tmp_path):
    (package / name).unlink()
    answer = ask(binary=package / "_lib/opwright", PATH=tmp_path)
    answer.says("package", "error", f"not complete: no {package / name}", "install Opwright again")


def test_the_bridge_belongs_to_the_python_package_only(package, tmp_path):
    (package / "_lib/libopwright_mindspore.so").unlink()
    (package / "__init__.py").unlink()
    ask(binary=package / "_lib/opwright", PATH=tmp_path).says("package", "ok", str(package))


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("_lib/libopwright_entries.a", "version 0.", "version 9.", "entries.a (9."),
        ("_lib/libopwright_mindspore.so", "version 0.", "version 9.", "mindspore.so (9."),
        ("include/opwright/c_api.h", "ABI_MAJOR ", "ABI_MAJOR 9", "c_api.h (ABI 9"),
        ("_lib/libopwright_entries.a", "part of version", "bart of version", "of no known version"),
    ],
)
def test_a_file_of_another_version_is_named(name, old, new, said, package, tmp_path):
    bytes_of = (package / name).read_bytes()
    assert old.encode() in bytes_of
    (package / name).write_bytes(bytes_of.replace(old.encode(), new.encode()))
    answer = ask(binary=package / "_lib/opwright", PATH=tmp_path)
    answer.says("package", "error", said, "install Opwright again")


def test_the_library_of_another_opwright_is_noticed(package, tmp_path):
    answer = ask(PATH=tmp_path, LD_LIBRARY_PATH=package / "_lib")
    answer.says("program", "error", str(package / "_lib"), "LD_LIBRARY_PATH")


def test_operator_libraries_do_not_carry_the_version_text(library_path):
    assert b"opwright part of version" not in Path(library_path).read_bytes()
