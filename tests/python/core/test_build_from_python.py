# SPDX-License-Identifier: Apache-2.0
"""opwright.build: paths, diagnostics, one compile for many, caches that cannot be written."""

import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import operators
import pytest
from command import run

import opwright

ONE = np.float32([1])


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """A $CXX that notes each compilation; calls(): how many read the kernel."""
    wrapper, log = tmp_path / "cxx", tmp_path / "compiles"
    # Sources come through the standard input; the kernel's is known by its class.
    wrapper.write_text(f"""#!/bin/sh
case " $* " in
*" -c "*" - ")
  cat > "$0.$$"
  grep -q ElementAddKernel "$0.$$" && echo "$$" >> "{log}"
  exec g++ "$@" < "$0.$$";;
esac
exec g++ "$@"
""")
    wrapper.chmod(0o755)
    monkeypatch.setenv("CXX", str(wrapper))
    monkeypatch.setenv("OPWRIGHT_CACHE", str(tmp_path / "cache"))
    return lambda: len(log.read_text().split()) if log.exists() else 0


def test_build_returns_an_absolute_path(plus, tmp_path, monkeypatch):
    plus(tmp_path / "op", 1)
    monkeypatch.chdir(tmp_path)
    cached = opwright.build("op")
    assert os.path.isabs(cached) and cached.startswith(os.environ["OPWRIGHT_CACHE"])
    out = opwright.build(Path("op"), "libx.so")
    assert out == str(tmp_path / "libx.so") and os.path.isfile(out)
    sources = ["op/kernel.cpp", "op/op.json"]
    assert os.path.isfile(opwright.build(sources, tmp_path / "liby.so"))


def test_load_builds_a_folder(plus, tmp_path):
    library = opwright.load(plus(tmp_path / "op", 2))
    assert library.element_add(ONE, ONE).tolist() == [4]


# K05
def test_unchanged_sources_start_no_compiler(plus, tmp_path, compiler):
    folder = plus(tmp_path / "op", 3)
    first = opwright.build(folder)
    assert compiler() == 1
    assert opwright.build(folder) == first and compiler() == 1
    plus(folder, 4)
    assert opwright.build(folder) != first and compiler() == 2
    plus(folder, 3)
    assert opwright.build(folder) == first and compiler() == 2


# K04
def test_flags_are_part_of_the_content(plus, tmp_path, compiler):
    folder = plus(tmp_path / "op", "N")
    values = []
    for n in (1, 2, 1):
        library = opwright.load(opwright.build(folder, flags=[f"-DN={n}"]))
        values.append(library.element_add(ONE, ONE).item())
    assert values == [3, 4, 3] and compiler() == 2


# K03
def test_a_changed_header_is_built_again(plus, tmp_path, compiler):
    folder = plus(tmp_path / "op", "N")
    source = folder / "kernel.cpp"
    source.write_text('#include "n.h"\n' + source.read_text())
    values = []
    for n in (5, 6):
        (folder / "n.h").write_text(f"#define N {n}\n")
        values.append(opwright.load(folder).element_add(ONE, ONE).item())
    assert values == [7, 8]


# K08
def test_a_damaged_cached_library_is_built_again(plus, tmp_path, compiler, capfd):
    folder = plus(tmp_path / "op", 7)
    path = Path(opwright.build(folder))
    whole = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(whole[:100])
    assert opwright.build(folder) == str(path)
    assert path.read_bytes() == whole
    assert "CA005" in capfd.readouterr().err


# P02
def test_eight_processes_compile_once(plus, tmp_path, compiler):
    folder = plus(tmp_path / "op", 8)
    text = """
import sys, numpy as np, opwright
one = np.float32([1])
path = opwright.build(sys.argv[1])
assert opwright.load(path).element_add(one, one).item() == 10
print(path)
"""
    command = [sys.executable, "-c", text, str(folder)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    outputs = [process.communicate() for process in running]
    assert [process.returncode for process in running] == [0] * 8, outputs
    assert len({out for out, _ in outputs}) == 1
    assert compiler() == 1


# P08
def test_a_cache_that_cannot_be_written_is_replaced_with_words(plus, tmp_path, monkeypatch, capfd):
    # A file in the place of the folder refuses the superuser too.
    (tmp_path / "blocked").write_text("")
    monkeypatch.setenv("OPWRIGHT_CACHE", str(tmp_path / "blocked" / "cache"))
    path = opwright.build(plus(tmp_path / "op", 9))
    words = capfd.readouterr().err
    assert "CA004" in words and str(tmp_path / "blocked") in words
    assert opwright.load(path).element_add(ONE, ONE).tolist() == [11]


def test_a_cache_that_others_can_write_is_refused(plus, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    cache.mkdir()
    cache.chmod(0o777)
    monkeypatch.setenv("OPWRIGHT_CACHE", str(cache))
    with pytest.raises(opwright.CacheError, match="chmod 700") as caught:
        opwright.build(plus(tmp_path / "op", 10))
    assert caught.value.code == "CA001"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o777 and not list(cache.iterdir())


# X10
def test_a_source_that_does_not_compile_raises_with_its_own_lines(plus, tmp_path):
    folder = plus(tmp_path / "算子", "MISSING")
    with pytest.raises(opwright.BuildError) as caught:
        opwright.build(folder)
    error = caught.value
    line = 1 + (folder / "kernel.cpp").read_text().split("MISSING")[0].count("\n")
    assert error.code == "BD013"
    first = error.diagnostics[0]
    assert (first["file"], first["line"]) == (str(folder / "kernel.cpp"), line)
    assert first["severity"] == "error" and "MISSING" in first["message"]
    assert first["text"] in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == (str(error), error.code)
    assert again.diagnostics == error.diagnostics


# X10
def test_no_compiler_is_said_so(plus, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    monkeypatch.setenv("OPWRIGHT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(opwright.BuildError, match="/nowhere/g"):
        opwright.build(plus(tmp_path / "op", 11))


# X02
def test_a_broken_metadef_has_the_command_lines_words(write_folder, tmp_path):
    wrong = operators.binary("element_add", ["float23"], shape_rule="broadcast(x, q)")
    wrong["outptu_desc"] = []
    folder = write_folder(tmp_path / "op", wrong, "")
    with pytest.raises(opwright.Error) as caught:
        opwright.build(folder)
    lines = str(caught.value).splitlines()
    told = run("build", folder)
    assert told.returncode == 1
    for line in lines:
        assert line.strip().removesuffix(f" [{caught.value.code}]") in told.stderr
    checked = run("validate", folder / "op.json")
    errors = [line for line in checked.stdout.splitlines() if ": error: " in line]
    assert len(errors) >= 2
    texts = [d["text"] for d in caught.value.diagnostics if d["severity"] == "error"]
    assert texts == errors


def test_a_folder_without_metadef_names_it(tmp_path):
    (tmp_path / "op").mkdir()
    (tmp_path / "op" / "kernel.cpp").write_text("")
    with pytest.raises(opwright.BuildError, match=r"op\.json") as caught:
        opwright.build(tmp_path / "op")
    assert caught.value.code in {"BD001", "BD006"}


def test_arguments_of_a_wrong_type_are_type_errors(plus, tmp_path):
    folder = plus(tmp_path / "op", 12)
    for call in (
        lambda: opwright.build(3),
        lambda: opwright.build([folder, 3]),
        lambda: opwright.build(folder, 3),
        lambda: opwright.build(folder, flags=[1]),
        lambda: opwright.build(folder, flags="-DN"),
        lambda: opwright.build(folder, march=3),
    ):
        with pytest.raises(TypeError):
            call()


def test_an_output_that_is_mapped_is_replaced_not_written_over(plus, tmp_path):
    path = tmp_path / "lib.so"
    library = opwright.load(opwright.build(plus(tmp_path / "op", 13), path))
    inode = path.stat().st_ino
    opwright.build(plus(tmp_path / "op", 14), path)
    assert path.stat().st_ino != inode
    assert library.element_add(ONE, ONE).tolist() == [15]
    shutil.rmtree(tmp_path / "op")
    path.unlink()
    assert library.element_add(ONE, ONE).tolist() == [15]
