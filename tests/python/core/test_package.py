# SPDX-License-Identifier: Apache-2.0
"""The package as it lies on disk: version, layout, binary contract, CMake package."""

import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

import opwright

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(opwright.__file__).parent


def dynamic_entries(path, tag):
    with open(path, "rb") as file:
        section = ELFFile(file).get_section_by_name(".dynamic")
        return [
            getattr(entry, {"DT_NEEDED": "needed", "DT_RUNPATH": "runpath"}[tag])
            for entry in section.iter_tags(tag)
        ]


def test_the_version_is_that_of_the_cmake_project():
    project = re.search(
        r"project\(Opwright VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()
    )
    assert opwright.__version__ == project.group(1)


@pytest.mark.parametrize(
    "name",
    [
        "_core.abi3.so",
        "_lib/libopwright.so",
        "_lib/libopwright_entries.a",
        "_lib/opwright",
        "_lib/aoc",
        "include/opwright/c_api.h",
        "include/acl/acl.h",
        "cmake/OpwrightConfig.cmake",
        "cmake/OpwrightConfigVersion.cmake",
        "py.typed",
    ],
)
def test_the_package_holds(name):
    assert (PACKAGE / name).is_file()


@pytest.mark.parametrize(
    ("name", "runpath"),
    [
        ("_core.abi3.so", "$ORIGIN/_lib"),
        ("_lib/libopwright.so", "$ORIGIN"),
        ("_lib/opwright", "$ORIGIN"),
    ],
)
def test_libraries_are_looked_for_inside_the_package_only(name, runpath):
    """An empty part of a search path would be the working folder."""
    assert dynamic_entries(PACKAGE / name, "DT_RUNPATH") == [runpath]


def test_the_core_needs_only_what_every_machine_with_a_cxx_compiler_has():
    needed = set(dynamic_entries(PACKAGE / "_lib/libopwright.so", "DT_NEEDED"))
    assert needed <= {
        "ld-linux-x86-64.so.2",
        "libc.so.6",
        "libelf.so.1",
        "libgcc_s.so.1",
        "libm.so.6",
        "libstdc++.so.6",
    }


def test_find_package_gives_the_library_and_its_headers(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user C)\n"
        f"find_package(Opwright {opwright.__version__} REQUIRED)\n"
        "add_executable(user user.c)\n"
        "target_link_libraries(user PRIVATE Opwright::opwright)\n"
    )
    (tmp_path / "user.c").write_text(
        "#include <opwright/c_api.h>\n#include <stdio.h>\n"
        "int main(void) { return puts(opwright_version()) < 0; }\n"
    )
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={PACKAGE / 'cmake'}"],
        ["cmake", "--build", build],
    ):
        subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run([build / "user"], check=True, capture_output=True, text=True)
    assert printed.stdout.strip() == opwright.__version__
