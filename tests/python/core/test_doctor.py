# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: every known trouble is found, named with its cure, and told by the exit code."""

import os
import subprocess
import sys

import pytest
from command import BINARY
from doctor import PACKAGE, Answer, ask, start
from fake_environment import program

import opwright


def test_nothing_is_wrong_here():
    answer = ask("--python", sys.executable, PYTHONPATH=PACKAGE.parent)
    assert answer.code == 0 and answer.report["python"] == sys.executable
    for check in ("package", "C++ compiler", "C compiler", "linker", "trial build", "C++20"):
        answer.says(check, "ok")
    answer.says("package", "ok", opwright.__version__)
    answer.says("processor", "ok", "x86-64")
    answer.says("cache", "ok", f"{os.environ['OPWRIGHT_CACHE']}, mode 0700")
    answer.says("Python", "ok", ".".join(map(str, sys.version_info[:3])))
    answer.says("opwright", "ok", str(PACKAGE))
    answer.says("numpy", "ok")
    assert not answer.checks("error")


def test_text_is_one_aligned_line_a_finding_with_its_cure_below(environment):
    done = start(PATH=environment.bin, VIRTUAL_ENV=environment.folder)
    assert done.returncode == 1
    *lines, last = done.stdout.splitlines()
    assert [line for line in lines if line[0] != " "] == [
        *("Opwright", "Compilers", "Python", "Frameworks")
    ]
    found = [line for line in lines if line[:2] == "  " and line[2] != " "]
    column = next(line for line in found if " numpy " in line).index("1.26.4")
    assert all(line[column - 2 : column] == "  " and line[column] != " " for line in found)
    at = next(i for i, line in enumerate(lines) if line.startswith("  error    C++ compiler"))
    assert lines[at + 1].strip().startswith("cure: install one")
    assert last == "2 errors, 0 warnings, 1 note"


def test_it_is_a_command_and_refuses_what_it_does_not_know():
    listed = subprocess.run([BINARY, "--help"], capture_output=True, text=True)
    assert "doctor" in listed.stdout
    assert start("--format", "yaml").returncode == 2


def test_no_compiler_is_an_error_with_the_command_that_installs_one(tmp_path):
    answer = ask(PATH=tmp_path)
    assert answer.code == 1
    answer.says("C++ compiler", "error", "no c++, g++ or clang++ in PATH", "apt-get install g++")
    answer.says("C compiler", "error", "no cc, gcc or clang in PATH", "apt-get install gcc")
    assert "trial build" not in answer.checks("ok", "error")


def test_a_variable_that_names_no_compiler_is_told(tmp_path):
    answer = ask(CXX="no-such-cxx -O2", CC=tmp_path / "cc")
    answer.says("C++ compiler", "error", 'CXX is "no-such-cxx -O2"', "unset CXX")
    answer.says("C compiler", "error", "CC is ", "unset CC")


def test_a_program_that_compiles_nothing_is_told_by_the_trial(tmp_path):
    answer = ask(CXX="true")
    answer.says("trial build", "error", "has compiled nothing", "set CXX")
    assert "linker" not in answer.checks("ok", "error")


WRAPPER = """case " $* " in {pattern}) {action};; esac
exec c++ "$@\""""


@pytest.mark.parametrize(
    ("pattern", "action", "check", "level", "found", "cure"),
    [
        ("*c++17*", "echo no such language >&2; exit 1", "trial build", "error", "[BD013]", "CXX"),
        ("*-shared*", "echo ld: broken >&2; exit 1", "trial build", "error", "[BD016]", "CXX"),
        ("*c++20*", "exit 1", "C++20", "note", "only the build of Opwright", "g++ 12"),
        ("*-print-prog-name=ld*", "echo /no/ld; exit 0", "linker", "error", "/no/ld", "binutils"),
    ],
    ids=["no C++17", "does not link", "no C++20", "no linker"],
)
def test_a_compiler_that_lacks_something(pattern, action, check, level, found, cure, tmp_path):
    text = WRAPPER.format(pattern=pattern, action=action)
    ask(CXX=program(tmp_path / "c++", text)).says(check, level, found, cure)


def test_a_cache_that_cannot_be_made_is_told_with_what_is_used_instead(tmp_path):
    (tmp_path / "file").touch()
    blocked = tmp_path / "file" / "cache"
    answer = ask(PATH=tmp_path, OPWRIGHT_CACHE=blocked, TMPDIR=tmp_path)
    answer.says("cache", "warning", str(blocked), "set OPWRIGHT_CACHE")
    assert f"{tmp_path}/opwright-cache-{os.geteuid()}, mode 0700" in answer["cache"]["found"]


def test_no_cache_at_all_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    blocked = tmp_path / "file" / "x"
    answer = ask(OPWRIGHT_CACHE=blocked, TMPDIR=blocked)
    answer.says("cache", "error", "cannot be used")
    answer.says("C++ compiler", "error", "not tried", "TMPDIR")


@pytest.mark.parametrize(("mode", "level"), [(0o777, "error"), (0o755, "note"), (0o700, "ok")])
def test_the_mode_of_the_cache(mode, level, tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(mode)
    answer = ask(PATH=tmp_path, OPWRIGHT_CACHE=cache)
    answer.says("cache", level, str(cache), "" if level == "ok" else "chmod 700")


@pytest.mark.parametrize(
    ("options", "level", "found", "cure"),
    [
        ("noexec,size=200m", "error", "noexec", "another file system"),
        ("size=50m", "warning", "which is little", "opwright cache clear"),
    ],
)
def test_the_file_system_of_the_cache(options, level, found, cure, tmp_path):
    """In a mount name space of its own, where anybody may mount."""
    mount = f"mount -t tmpfs -o {options} none {tmp_path}"
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*inside, mount], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    command = f"{mount} && exec {BINARY} doctor --python /no --format json"
    done = subprocess.run(
        [*inside, command],
        env={**os.environ, "OPWRIGHT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    answer = Answer(done)
    answer.says("cache", level, found, cure)
    answer.says("trial build", "ok")
