# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: every known trouble is found, named with its cure, and told by the exit code."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import BINARY
from fake_environment import Environment, program

import opwright

PACKAGE = Path(opwright.__file__).parent
GOOD = f"__version__ = {opwright.__version__!r}\n"
VARIABLES = (
    "CC CXX LD_LIBRARY_PATH LD_PRELOAD MS_CUSTOM_AOT_WHITE_LIST PYTHONPATH PYTHONHOME VIRTUAL_ENV"
)


class Answer:
    def __init__(self, done):
        self.code = done.returncode
        assert done.stderr == "" and self.code in (0, 1), done
        self.report = json.loads(done.stdout)
        self.findings = self.report["findings"]
        assert (self.code == 1) == (self.report["errors"] > 0)

    def __getitem__(self, check):
        (found,) = (f for f in self.findings if f["check"] == check)
        assert (found["cure"] == "") == (found["level"] == "ok"), found
        return found

    def says(self, check, level, found="", cure=""):
        got = self[check]
        assert got["level"] == level and found in got["found"] and cure in got["cure"], got

    def checks(self, *levels):
        return {f["check"] for f in self.findings if f["level"] in levels}


def start(*arguments, binary=BINARY, cwd=None, **env):
    kept = {k: v for k, v in os.environ.items() if k not in VARIABLES.split()}
    return subprocess.run(
        [binary, "doctor", *map(str, arguments)],
        cwd=cwd,
        env={**kept, **{k: str(v) for k, v in env.items()}},
        capture_output=True,
        encoding="utf-8",
    )


def ask(*arguments, **options):
    return Answer(start("--format", "json", *arguments, **options))


@pytest.fixture
def environment(tmp_path):
    """With numpy and Opwright."""
    made = Environment(tmp_path / "environment")
    return made.install("numpy", "1.26.4").install("opwright", "0", text=GOOD)


def ask_of(environment, *arguments, **options):
    """Only the environment's programs are in PATH: no compiler, which also makes it fast."""
    options = {"PATH": environment.bin, "VIRTUAL_ENV": environment.folder, **options}
    return ask(*arguments, **options)


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


PAIRS = {
    "torch older than 2.10": (
        {"torch": "2.9.1+cpu"},
        "PyTorch",
        ("error", "2.9.1+cpu: Opwright needs 2.10", "pip install 'torch>=2.10'"),
    ),
    "a torch that is new enough": ({"torch": "2.13.0"}, "PyTorch", ("ok", "2.13.0", "")),
    "mindspore with numpy 2": (
        {"mindspore": "2.10.0", "numpy": "2.3.5"},
        "MindSpore, numpy",
        ("note", "numpy 1, and this is 2.3.5", "import opwright.mindspore first"),
    ),
    "mindspore without its packages": (
        {"mindspore": "2.10.0"},
        "MindSpore, packages",
        ("warning", "no decorator and attrs: ", "pip install decorator attrs"),
    ),
    "mindspore without attrs": (
        {"mindspore": "2.10.0", "decorator": "5.3.1"},
        "MindSpore, packages",
        ("warning", "no attrs: ", "pip install attrs"),
    ),
    "a mindspore that was not tried": (
        {"mindspore": "2.9.0"},
        "MindSpore",
        ("note", "2.9.0: Opwright is tested with 2.10", "mindspore==2.10.0"),
    ),
    "jax that needs numpy 2": (
        {"jax": "0.7.0", "jaxlib": "0.7.0"},
        "JAX, numpy",
        ("error", "JAX 0.7.0 needs numpy 2, and this is 1.26.4", "pip install 'numpy>=2'"),
    ),
    "jax that needs numpy 2 beside mindspore": (
        {"jax": "0.10.2", "jaxlib": "0.10.2", "mindspore": "2.10.0"},
        "JAX, numpy",
        ("error", "JAX 0.10.2 needs numpy 2", "pip install 'jax<0.7'"),
    ),
    "jax without jaxlib": ({"jax": "0.6.2"}, "JAX, jaxlib", ("error", "no jaxlib", "jax[cpu]")),
    "numpy that is too old": (
        {"numpy": "1.24.0"},
        "numpy",
        ("error", "1.24.0: Opwright needs 1.26", "pip install 'numpy>=1.26'"),
    ),
    "tensorflow by another name": (
        {"tensorflow-cpu": "2.21.0"},
        "TensorFlow",
        ("ok", "2.21.0", ""),
    ),
    "onnxruntime": ({"onnxruntime": "1.32.0"}, "ONNX Runtime", ("ok", "1.32.0", "")),
    "no framework": ({}, "PyTorch", ("ok", "not installed", "")),
}
MODULES = {"attrs": "attr", "tensorflow-cpu": "tensorflow"}


@pytest.mark.parametrize(("packages", "check", "said"), PAIRS.values(), ids=PAIRS)
def test_versions_are_judged_by_metadata_and_nothing_is_imported(packages, check, said, tmp_path):
    made = Environment(tmp_path / "environment").install("opwright", "0", text=GOOD)
    for name, version in {"numpy": "1.26.4", **packages}.items():
        made.install(name, version, MODULES.get(name))
    ask_of(made).says(check, *said)
    assert not (made.folder / "imported").exists()


def test_pairs_that_are_right_are_not_named(tmp_path):
    made = Environment(tmp_path / "environment").install("opwright", "0", text=GOOD)
    versions = {"numpy": "1.26.4", "torch": "2.13.0", "mindspore": "2.10.0", "jax": "0.6.2"}
    for name, version in {**versions, "jaxlib": "0.6.2", "decorator": "5", "attrs": "26"}.items():
        made.install(name, version, MODULES.get(name))
    made.program("msrun")
    answer = ask_of(made)
    assert answer.checks("warning") == set()
    assert answer.checks("error") == {"C++ compiler", "C compiler"}
    assert answer.checks("note") == {"opwright"}  # the fake one is elsewhere


def test_a_package_without_its_module_is_half_installed(environment):
    environment.install("torch", "2.13.0")
    shutil.rmtree(environment.packages / "torch")
    said = "2.13.0 is listed as installed, and there is no module torch"
    ask_of(environment).says("PyTorch", "error", said, "--force-reinstall torch==2.13.0")


def test_a_module_without_metadata_is_of_unknown_version(environment):
    (environment.packages / "torch.py").write_text("raise SystemExit('imported')\n")
    ask_of(environment).says("PyTorch", "note", "of unknown version")


def test_a_folder_of_the_user_is_no_framework(environment, tmp_path):
    (tmp_path / "project" / "torch").mkdir(parents=True)
    (tmp_path / "project" / "torch" / "__init__.py").write_text("")
    (tmp_path / "project" / "jax").mkdir()
    answer = ask_of(environment, cwd=tmp_path / "project")
    answer.says("PyTorch", "ok", "not installed")
    answer.says("JAX", "ok", "not installed")


# Python


def test_without_python_it_says_so_and_goes_on(tmp_path):
    answer = ask(PATH=tmp_path)
    answer.says("Python", "note", "no python3 in PATH", "--python")
    answer.says("package", "ok")
    assert "PyTorch" not in answer.checks("ok", "note", "warning", "error")


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_python_that_is_named_and_not_there_is_an_error(how, tmp_path):
    if how == "option":
        answer = ask("--python", tmp_path / "none", PATH=tmp_path)
        answer.says("Python", "error", f"--python {tmp_path}/none", "give the path")
    else:
        answer = ask(PATH=os.environ["PATH"], VIRTUAL_ENV=tmp_path)
        answer.says("Python", "error", f"VIRTUAL_ENV {tmp_path}", "unset VIRTUAL_ENV")


def test_the_active_environment_comes_before_path_and_the_option_before_both(environment, tmp_path):
    other = Environment(tmp_path / "other")
    other.program("python3", f'exec {other.python} "$@"')
    path = {"PATH": f"{other.bin}:/usr/bin:/bin"}
    assert ask(**path).report["python"] == str(other.bin / "python3")
    path["VIRTUAL_ENV"] = environment.folder
    assert ask(**path).report["python"] == str(environment.python)
    assert ask("--python", other.python, **path).report["python"] == str(other.python)


def test_python_m_opwright_asks_the_python_that_runs_it():
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "VIRTUAL_ENV": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-m", "opwright", "doctor", "--format", "json"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert Answer(done).report["python"] == sys.executable


def test_a_python_that_hangs_is_ended(tmp_path):
    slow = program(tmp_path / "python", "sleep 1000 & sleep 1000")
    answer = ask("--python", slow, "--timeout", 0.3, PATH="/usr/bin:/bin", CXX=tmp_path / "no")
    answer.says("Python", "error", "gave no answer in time", "--timeout")


def test_a_python_that_does_not_start_is_an_error(tmp_path):
    broken = program(tmp_path / "python", "echo no encodings >&2; exit 3")
    answer = ask("--python", broken, PATH=tmp_path)
    answer.says("Python", "error", "does not run (exit code 3): no encodings", "make the env")


def test_a_python_that_is_too_old_is_an_error(tmp_path):
    old = program(tmp_path / "python", r"printf '\nopwright-doctor\tversion\t3.9.2\n'")
    answer = ask("--python", old, PATH="/usr/bin:/bin")
    answer.says("Python", "error", "3.9.2", "newer Python")


MODULE = {
    "absent": (None, "warning", "not installed for", "pip install ."),
    "another version": ("__version__ = '0.0.1'", "error", "0.0.1 in ", "-m opwright"),
    "another place": (GOOD, "note", "not the one of this command line", "-m opwright"),
    "fails": ("import no_such_thing", "error", "No module named 'no_such_thing'", "pip install ."),
    "lacks its backend": ("import nanobind_backend", "error", "nanobind", "'nanobind-backend>=1"),
    "ends": ("import os; os.abort()", "error", "ends Python (exit code 134)", "pip install ."),
    "leaves": ("raise SystemExit(5)", "error", "SystemExit: 5", "pip install ."),
}


@pytest.mark.parametrize(("text", "level", "found", "cure"), MODULE.values(), ids=MODULE)
def test_the_module_opwright_must_import_and_be_of_this_version(text, level, found, cure, tmp_path):
    made = Environment(tmp_path / "environment").install("numpy", "1.26.4")
    if text is not None:
        made.install("opwright", "0", text=text)
    ask_of(made).says("opwright", level, found, cure)


def test_a_module_that_hangs_leaves_the_rest_of_the_answer(tmp_path):
    made = Environment(tmp_path / "environment").install("numpy", "1.26.4")
    made.install("opwright", "0", text="import time; time.sleep(1000)")
    answer = ask_of(made, "--timeout", 5)
    answer.says("Python", "error", "hangs in import opwright")
    answer.says("numpy", "ok", "1.26.4")


def test_without_numpy_the_module_cannot_work(tmp_path):
    made = Environment(tmp_path / "environment")
    ask_of(made).says("numpy", "ok", "not installed")
    made.install("opwright", "0", text=GOOD)
    ask_of(made).says("numpy", "error", "not installed", "pip install 'numpy>=1.26'")


def test_packages_are_found_by_a_relative_path_too(environment, tmp_path):
    other = Environment(tmp_path / "other").install("torch", "2.13.0")
    answer = ask_of(environment, cwd=other.packages.parent, PYTHONPATH="site-packages")
    answer.says("PyTorch", "ok", "2.13.0")


# Compilers


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


# Opwright's files


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


# The cache


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


# The environment's variables


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
