# SPDX-License-Identifier: Apache-2.0
"""Loading from Python: identity, reloads, handles, and words for files that are no libraries."""

import hashlib
import os
import pickle
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from command import run

import opwright

ONE, TWO = np.float32([1]), np.float32([2])


def value(operator):
    return operator(ONE, TWO).item()


@pytest.fixture(scope="module")
def built(plus, tmp_path_factory):
    """The library files of z = x + y and of z = x + y + 1."""
    folder = tmp_path_factory.mktemp("versions")
    return [opwright.build(plus(folder / f"v{n}", n), folder / f"lib{n}.so") for n in (0, 1)]


def test_a_library_lists_each_operator_once(built):
    names = opwright.load(built[0]).__dir__()
    assert names.count("element_add") == 1 and "operators" in names


# M03
def test_two_versions_of_one_operator_each_run_their_own_code(built):
    first, second = map(opwright.load, built)
    assert first.identity != second.identity
    assert (value(first.element_add), value(second.element_add)) == (3, 4)
    assert value(first.element_add) == 3


# K01 K06
def test_a_library_rebuilt_under_its_name_runs_its_new_code(plus, tmp_path):
    path = tmp_path / "libadd.so"
    handles = []
    for n in (10, 11, 10, 12):
        opwright.build(plus(tmp_path / "op", n), path)
        handles.append((n, opwright.load(path)))
        assert [value(h.element_add) for _, h in handles] == [3 + k for k, _ in handles]
    assert handles[0][1].identity == handles[2][1].identity


# K01
def test_a_library_copied_over_in_place_runs_its_new_code_in_a_new_handle(plus, tmp_path):
    first = opwright.build(plus(tmp_path / "a", 20), tmp_path / "liba.so")
    other = opwright.build(plus(tmp_path / "b", 21), tmp_path / "libb.so")
    assert value(opwright.load(first).element_add) == 23
    shutil.copy(other, tmp_path / "new")
    os.replace(tmp_path / "new", first)
    assert value(opwright.load(first).element_add) == 24


def test_a_folder_is_loaded_whole_while_the_cache_is_cleared(plus, tmp_path, monkeypatch):
    monkeypatch.setenv("OPWRIGHT_CACHE", str(tmp_path / "cache"))
    done = threading.Event()

    def clear():
        while not done.is_set():
            assert run("cache", "clear").returncode == 0

    clearer = threading.Thread(target=clear)
    clearer.start()
    try:
        for n in (30, 31, 30, 32):
            folder = plus(tmp_path / "op", n)
            for _ in range(10):
                assert value(opwright.load(folder).element_add) == 3 + n
    finally:
        done.set()
        clearer.join()


# M02
def test_one_content_by_several_paths_is_one_library(built, tmp_path):
    (tmp_path / "link.so").symlink_to(built[0])
    shutil.copy(built[0], tmp_path / "copy.so")
    paths = [built[0], tmp_path / "link.so", tmp_path / "copy.so"]
    libraries = [opwright.load(path) for path in paths]
    assert len({library.identity for library in libraries}) == 1
    assert len({library.element_add.key for library in libraries}) == 1
    assert libraries[0].identity == hashlib.sha256(Path(built[0]).read_bytes()).hexdigest()


def test_the_hash_pins_the_content(built):
    right = hashlib.sha256(Path(built[0]).read_bytes()).hexdigest()
    for text in (right, right.upper()):
        assert opwright.load(built[0], sha256=text).identity == right
    with pytest.raises(opwright.LoadError, match="pinned") as caught:
        opwright.load(built[1], sha256=right)
    assert caught.value.code == "LD012" and right in str(caught.value)


@pytest.mark.parametrize("text", ["", "0" * 63, "g" * 64, "sha256:" + "0" * 64])
def test_what_is_no_hash_is_no_pin(built, text):
    with pytest.raises(opwright.LoadError, match="expected 64 hex digits") as caught:
        opwright.load(built[0], sha256=text)
    assert caught.value.code == "LD012"


# L11
def test_an_operator_outlives_its_library_object(python, built):
    python(
        """
        import gc, sys
        import numpy as np, opwright
        def setup():
            return opwright.load(sys.argv[1]).element_add
        operator = setup()
        gc.collect()
        one = np.float32([1])
        assert all(operator(one, one).item() == 2 for _ in range(1000))
        """,
        built[0],
    )


# L12
def test_a_closed_library_refuses_calls_and_the_process_ends_well(python, built):
    python(
        """
        import sys
        import numpy as np, opwright
        one = np.float32([1])
        first, second = opwright.load(sys.argv[1]), opwright.load(sys.argv[1])
        operator = first.element_add
        first.close()
        first.close()
        # The second handle holds the library open.
        assert second.element_add(one, one).item() == operator(one, one).item() == 2
        with opwright.load(sys.argv[1]) as third:
            kept = third.element_add
        second.close()
        for stale in (operator, kept):
            try:
                stale(one, one)
                raise SystemExit("no error")
            except opwright.CallError as error:
                assert error.code == "CL014" and "closed" in str(error), error
            assert stale.name in repr(stale) and stale.metadef["op_name"] == "element_add"
        again = opwright.load(sys.argv[1])
        assert again.element_add(one, one).item() == kept(one, one).item() == 2
        """,
        built[0],
    )


# L12
def test_after_close_a_handle_says_so(built):
    library = opwright.load(built[0])
    library.close()
    for use in (lambda: library["element_add"], lambda: library.element_add):
        with pytest.raises(opwright.CallError, match="closed") as caught:
            use()
        assert caught.value.code == "CL014"


def error_of(path):
    with pytest.raises(opwright.LoadError) as caught:
        opwright.load(path)
    assert isinstance(caught.value, RuntimeError)
    assert str(caught.value).endswith(f"[{caught.value.code}]")
    return caught.value.code, str(caught.value)


# L07
def test_a_missing_file_names_the_path_the_resolved_one_and_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for given in ("./nowhere.so", "nowhere.so", tmp_path / "nowhere.so"):
        code, words = error_of(given)
        assert code == "LD001"
        for part in (str(given), str(tmp_path / "nowhere.so"), f"working folder {tmp_path}"):
            assert part in words


# L07
def test_a_relative_path_holds_after_the_working_folder_changes(built, tmp_path, monkeypatch):
    shutil.copy(built[1], tmp_path / "libadd.so")
    monkeypatch.chdir(tmp_path)
    library = opwright.load("./libadd.so")
    monkeypatch.chdir("/")
    assert os.path.isabs(library.path) and value(library.element_add) == 4


# W05
def test_a_bare_name_is_looked_up_in_the_search_path_at_that_time(plus, tmp_path, monkeypatch):
    opwright.build(plus(tmp_path / "op", 30), tmp_path / "libsearched.so")
    code, _ = error_of("libsearched.so")
    assert code == "LD001"
    monkeypatch.setenv("OPWRIGHT_PATH", f"/nowhere:{tmp_path}")
    assert value(opwright.load("libsearched.so").element_add) == 33
    _, words = error_of("libother.so")
    assert str(tmp_path / "libother.so") in words and "/nowhere/libother.so" in words


def compiled(tmp_path, source, name, *flags):
    (tmp_path / "source.c").write_text(source)
    out = tmp_path / name
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", out, tmp_path / "source.c", *flags], check=True
    )
    return out


# L05
def test_files_that_are_no_operator_libraries_are_named_for_what_they_are(tmp_path, built):
    text = tmp_path / "text.so"
    text.write_text("not a library")
    code, words = error_of(text)
    assert code == "LD003" and "ELF" in words
    module = compiled(tmp_path, "void* PyInit_x(void) { return 0; }", "module.so")
    code, words = error_of(module)
    assert code == "LD007" and "PyInit_x" in words and "Python module" in words
    (tmp_path / "empty.so").touch()
    assert error_of(tmp_path / "empty.so")[0] in {"LD003", "LD004"}
    cut = tmp_path / "cut.so"
    for length in (100, 5000):
        cut.write_bytes(Path(built[0]).read_bytes()[:length])
        assert error_of(cut)[0] == "LD004"


# L05
def test_a_folder_without_metadef_or_sources_is_no_library(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(opwright.BuildError, match="folder"):
        opwright.load(tmp_path / "folder")


# L06
def test_a_missing_dependency_is_named_not_the_library(plus, tmp_path, python):
    dependency = compiled(tmp_path, "int helper(void) { return 5; }", "libdep.so")
    folder = plus(tmp_path / "op", "helper()")
    source = folder / "kernel.cpp"
    source.write_text('extern "C" int helper();\n' + source.read_text())
    path = opwright.build(folder, tmp_path / "libk.so", flags=[f"-L{tmp_path}", "-ldep"])
    dependency.unlink()
    code, words = error_of(path)
    assert code == "LD008" and "libdep.so" in words and "searched" in words


# X06
def test_a_path_that_is_not_utf_8_is_named():
    for use in (opwright.load, opwright.build):
        with pytest.raises(opwright.LoadError, match="not UTF-8") as caught:
            use(os.fsdecode(b"/tmp/\xff.so"))
        assert caught.value.code == "LD001"


def test_a_path_with_a_nul_is_named(tmp_path):
    for path in ("\0", f"{tmp_path}\0.so"):
        with pytest.raises(opwright.LoadError, match="NUL") as caught:
            opwright.load(path)
        assert caught.value.code == "LD001"


def test_a_path_that_is_no_path_is_a_type_error():
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError):
            opwright.load(wrong)


# X06
def test_paths_outside_of_ascii_work_and_are_named_whole(plus, tmp_path):
    folder = tmp_path / "算子"
    folder.mkdir()
    path = opwright.build(plus(folder / "op", 40), folder / "é.so")
    assert path == str(folder / "é.so")
    assert value(opwright.load(path).element_add) == 43
    _, words = error_of(folder / "ü.so")
    assert str(folder / "ü.so") in words
    (folder / "ö.so").write_text("x")
    assert str(folder / "ö.so") in error_of(folder / "ö.so")[1]


def test_errors_survive_pickling(tmp_path):
    with pytest.raises(opwright.LoadError) as caught:
        opwright.load(tmp_path / "nowhere.so")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is opwright.LoadError
    assert (str(again), again.code, again.diagnostics) == (str(caught.value), "LD001", [])


def test_a_library_without_metadef_says_how_it_gets_one(plus, tmp_path):
    aoc = Path(opwright.__file__).parent / "_lib" / "aoc"
    folder, path = plus(tmp_path / "op", 50), tmp_path / "libadd.so"
    (folder / "op.json").unlink()
    subprocess.run([aoc, "-kernel", folder / "kernel.cpp", "-o", path], check=True)
    library = opwright.load(path)
    assert library.operators == ("element_add",)
    operator = library.element_add
    assert operator.metadef == {} and operator.name in repr(operator)
    for use in (lambda: operator(ONE, TWO), lambda: operator.infer(ONE, TWO)):
        with pytest.raises(opwright.RegistryError, match="register_operator_model") as caught:
            use()
        assert caught.value.code == "RG003"
