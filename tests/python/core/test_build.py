# SPDX-License-Identifier: Apache-2.0
"""The build on the command line: what it prints, what it makes, how it fails."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parents[3]
BINARY = Path(os.environ.get("OPWRIGHT_BIN", ROOT / "build/dev/opwright/_lib/opwright"))
AOC = BINARY.with_name("aoc")

KERNEL = """#include "acl/acl.h"

class ElementAddKernel : public OpKernelBase {
public:
    ElementAddKernel() = default;
    ~ElementAddKernel() = default;

    Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
        const auto& x = input.GetTensor(0);
        const auto& y = input.GetTensor(1);
        auto* z = output->GetTensor(0);
        float* x_ptr = x.Data<float>();
        float* y_ptr = y.Data<float>();
        float* z_ptr = z->Data<float>();
        int64_t size = x.Size();
        for (int64_t i = 0; i < size; i++) {
            z_ptr[i] = x_ptr[i] + y_ptr[i];
        }
        return SUCCESS;
    }
};
"""

METADEF = """{
  "op_name": "element_add",
  "op_type": "Custom",
  "input_desc": [
    {"name": "x", "dtype": ["float32"], "format": ["ND"], "shape": [-1]},
    {"name": "y", "dtype": ["float32"], "format": ["ND"], "shape": [-1]}
  ],
  "output_desc": [{"name": "z", "dtype": ["float32"], "format": ["ND"], "shape": [-1]}]
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPWRIGHT_CACHE", str(tmp_path / "cache"))
    for name in ("CXX", "CC"):
        monkeypatch.delenv(name, raising=False)
    op = tmp_path / "op"
    op.mkdir()
    (op / "add_kernel.cpp").write_text(KERNEL)
    (op / "op.json").write_text(METADEF)
    return op


def run(*command, cwd=None):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, cwd=cwd, encoding="utf-8"
    )


def exported(library):
    with open(library, "rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        return [
            symbol.name
            for symbol in symbols
            if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
        ]


def test_the_path_is_printed_last_and_the_second_time_is_a_cache_hit(folder, tmp_path):
    first = run(BINARY, "build", folder)
    assert first.returncode == 0, first.stderr
    path = Path(first.stdout.splitlines()[-1])
    assert path.is_absolute() and path.parent == tmp_path / "cache/lib"
    assert path.name.startswith("element_add-")
    assert sorted(exported(path)) == ["element_add", "element_addInferShape", "opwright_library"]
    second = run(BINARY, "build", folder)
    assert second.stdout == first.stdout
    assert "cache hit" in second.stderr


def test_relative_paths_are_those_of_the_working_folder(folder):
    result = run(BINARY, "build", "add_kernel.cpp", "op.json", "-o", "lib.so", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{folder / 'lib.so'}\n"


def test_flags_reach_the_compiler_and_verbose_shows_them(folder):
    (folder / "inc").mkdir()
    result = run(
        BINARY, "build", "-v", folder, "-DN=1", "-I", folder / "inc", "-std=c++20",
        "--march=x86-64-v2",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    for flag in ("-DN=1", f"-I{folder / 'inc'}", "-std=c++20", "-march=x86-64-v2", "-Wl,-z,defs"):
        assert flag in result.stderr


def test_the_note_can_be_read_without_loading(folder):
    path = run(BINARY, "build", folder, "--march=x86-64-v3").stdout.strip()
    with open(path, "rb") as file:
        note = ELFFile(file).get_section_by_name(".note.opwright").data()
    assert note[12:20] == b"Opwright"
    assert b"x86-64-v3\0" in note


def test_the_acl_command_as_it_is_written_down(folder, tmp_path):
    """Folders that are not there, -lacl: warnings at most."""
    result = run(
        AOC, "-kernel", "add_kernel.cpp", "-o", "libelement_add.so", "-I/nowhere/include",
        "-L/nowhere/lib64", "-lacl", cwd=folder,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    assert "/nowhere/include" in result.stderr and "warning" in result.stderr
    assert exported(folder / "libelement_add.so") == ["opwright_library"]


def test_the_mistake_of_the_written_form_is_shown_at_its_line(folder):
    source = folder / "add_kernel.cpp"
    source.write_text(KERNEL.replace("z->Data", "z.Data"))
    result = run(AOC, "-kernel", source, "-o", folder / "lib.so")
    assert result.returncode == 1
    line = 1 + KERNEL[: KERNEL.index("z->Data")].count("\n")
    first, second = result.stderr.splitlines()[:2]
    assert f"{source} does not compile" in first
    assert second.strip().startswith(f"{source}:{line}:")
    assert "->" in second
    assert not (folder / "lib.so").exists()


def test_a_kernel_without_a_return_is_told_what_to_write(folder):
    (folder / "add_kernel.cpp").write_text(KERNEL.replace("return SUCCESS;", ""))
    result = run(BINARY, "build", folder)
    assert result.returncode == 1
    assert "a kernel ends with return opwright::SUCCESS" in result.stderr


def test_an_undefined_symbol_fails_at_link(folder):
    source = folder / "go.cpp"
    source.write_text('int helper(int);\nextern "C" int go(int x) { return x<0?helper(x):x; }\n')
    result = run(AOC, "-kernel", source, "-o", folder / "lib.so")
    assert result.returncode == 1
    assert "helper(int)" in result.stderr and f"{source}:2" in result.stderr


def test_the_c_driver_as_cxx_links_what_cxx_code_needs(folder, monkeypatch):
    monkeypatch.setenv("CXX", "gcc")
    result = run(BINARY, "build", folder, "-o", folder / "lib.so")
    assert result.returncode == 0, result.stderr
    assert run(BINARY, "inspect", folder / "lib.so").returncode == 0


def test_aoc_takes_its_output_joined(folder):
    result = run(AOC, "-kernel", folder / "add_kernel.cpp", "-ojoined.so", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert (folder / "joined.so").exists()


@pytest.mark.parametrize(
    "words, said",
    [
        (["-kernl", "k.cpp"], "is -kernel meant?"),
        (["-kernel"], "has no value"),
        (["-o", "lib.so"], "no kernel"),
    ],
)
def test_wrong_use_of_aoc_shows_the_usage(folder, words, said):
    result = run(AOC, *words, cwd=folder)
    assert result.returncode == 2
    assert said in result.stderr and "usage: aoc" in result.stderr
    assert "[BD024]" in result.stderr


def test_an_opwright_that_is_not_complete_says_so(folder, tmp_path):
    """Without the entry archive and the headers beside it."""
    library = tmp_path / "package/_lib"
    library.mkdir(parents=True)
    for name in ("opwright", "libopwright.so"):
        shutil.copy(BINARY.with_name(name), library)
    result = run(library / "opwright", "build", folder)
    assert result.returncode == 1
    assert "this Opwright is not complete" in result.stderr and "[BD017]" in result.stderr
    assert str(library / "libopwright_entries.a") in result.stderr


def test_no_compiler(folder, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    result = run(BINARY, "build", folder)
    assert result.returncode == 1
    assert "no C++ compiler found" in result.stderr
    assert result.stdout == ""


def test_a_path_outside_of_ascii(folder, tmp_path):
    moved = tmp_path / "算子"
    folder.rename(moved)
    (moved / "add_kernel.cpp").write_text(KERNEL.replace("SUCCESS;", "MISSING;"))
    result = run(BINARY, "build", moved)
    assert f"{moved / 'add_kernel.cpp'}:19:16: error: 'MISSING' was not declared" in result.stderr


def test_cache_verbs(folder, tmp_path):
    cache = tmp_path / "cache"
    assert run(BINARY, "cache", "path").stdout == f"{cache}\n"
    library = Path(run(BINARY, "build", folder).stdout.strip())
    assert str(cache) in run(BINARY, "cache", "size").stdout
    assert run(BINARY, "cache", "clear").returncode == 0
    assert not library.exists()
    assert run(BINARY, "build", folder).returncode == 0


def test_eight_processes_build_one_key_at_once(folder):
    builds = [
        subprocess.Popen([BINARY, "build", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(8)
    ]
    results = [build.communicate() for build in builds]
    assert all(build.returncode == 0 for build in builds), results
    assert len({out for out, _ in results}) == 1
    assert sum(b"cache hit" not in err for _, err in results) == 1
