# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: what MindSpore's programs and the loader take from the environment."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from doctor import PACKAGE, ask, ask_of
from fake_environment import Environment, program


@pytest.fixture
def mindspore(environment):
    environment.install("mindspore", "2.10.0")
    return environment


def test_msrun_must_be_in_path(mindspore):
    ask_of(mindspore).says("msrun", "warning", "not in PATH", f"put {mindspore.bin} first in PATH")


def test_msrun_must_start_the_environments_python(mindspore, tmp_path):
    mindspore.program("msrun")
    ask_of(mindspore).says("msrun", "ok", f"starts {mindspore.python}")
    other = Environment(tmp_path / "other")
    answer = ask_of(mindspore, PATH=f"{other.bin}:{mindspore.bin}")
    answer.says("msrun", "warning", f"which is {other.python}", "first in PATH")
    mindspore.python.rename(mindspore.bin / "python3")
    answer = ask_of(mindspore, "--python", mindspore.bin / "python3")
    answer.says("msrun", "warning", "none is in PATH")


def test_msrun_may_start_the_environments_python_through_another_program(mindspore, tmp_path):
    mindspore.program("msrun")
    shim = program(tmp_path / "shims" / "python", f'exec {mindspore.python} "$@"')
    answer = ask_of(mindspore, PATH=f"{shim.parent}:{mindspore.bin}")
    answer.says("msrun", "ok", f"starts {shim}")


def test_msrun_of_another_environment_is_told(mindspore, tmp_path):
    other = Environment(tmp_path / "other")
    msrun = other.program("msrun")
    answer = ask_of(mindspore, PATH=f"{mindspore.bin}:{other.bin}")
    answer.says("msrun", "warning", f"{msrun} is of another environment")


def test_mindspores_list_of_folders_is_told(mindspore, environment):
    answer = ask_of(mindspore, MS_CUSTOM_AOT_WHITE_LIST="/opt/ops")
    answer.says("MS_CUSTOM_AOT_WHITE_LIST", "warning", "is /opt/ops", str(PACKAGE / "_lib"))


@pytest.fixture(scope="module")
def cxx_library():
    named = subprocess.run(["c++", "-print-file-name=libstdc++.so.6"], capture_output=True)
    return Path(os.path.realpath(named.stdout.decode().strip()))


@pytest.fixture
def old_library(cxx_library, tmp_path):
    """The libstdc++ of this machine by the name of an old one."""
    folder = tmp_path / "old"
    folder.mkdir()
    shutil.copy2(cxx_library, folder / "libstdc++.so.6.0.1")
    (folder / "libstdc++.so.6").symlink_to("libstdc++.so.6.0.1")
    return folder / "libstdc++.so.6"


def test_another_libstdcxx_in_a_search_path_is_told(old_library, cxx_library):
    answer = ask(LD_LIBRARY_PATH=f"/nowhere:{old_library.parent}", VIRTUAL_ENV="/nowhere")
    answer.says("LD_LIBRARY_PATH", "warning", f"names {old_library.parent}, whose", "take the")
    assert str(cxx_library) in answer["LD_LIBRARY_PATH"]["found"]


def test_the_compilers_own_libstdcxx_in_a_search_path_is_right(cxx_library, tmp_path):
    shutil.copy2(cxx_library, tmp_path / cxx_library.name)
    (tmp_path / "libstdc++.so.6").symlink_to(cxx_library.name)
    paths = f"{cxx_library.parent}:{tmp_path}"
    answer = ask(LD_LIBRARY_PATH=paths, LD_PRELOAD=cxx_library, VIRTUAL_ENV="/nowhere")
    assert not answer.checks("warning")


def test_a_preloaded_libstdcxx_is_told(old_library, tmp_path):
    answer = ask(PATH=tmp_path, LD_PRELOAD=old_library)
    answer.says("LD_PRELOAD", "warning", f"names {old_library}", "take it out")


def test_a_python_with_an_older_libstdcxx_than_the_compilers_is_told(old_library, tmp_path):
    line = rf"printf '\nopwright-doctor\tlibstdc++\t{old_library}\n'"
    python = program(tmp_path / "python", line)
    answer = ask("--python", python)
    answer.says("libstdc++", "warning", "older than the compiler's", "set CXX")
