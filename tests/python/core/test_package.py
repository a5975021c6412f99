# SPDX-License-Identifier: Apache-2.0
"""The package as it lies on disk: version, layout, binary contract, CMake package."""

import json
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


def test_what_it_lists_is_what_there_is_to_use_each_once():
    import opwright.torch

    names = [name for name in opwright.__dir__() if not name.startswith("_")]
    assert sorted(names) == sorted({*opwright.__all__, "torch", "mindspore"})


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


def test_an_operator_library_needs_the_compilers_libraries_and_has_nothing_of_a_thread():
    path = opwright.build(ROOT / "examples" / "fused_add_scale")
    assert set(dynamic_entries(path, "DT_NEEDED")) <= {
        "libc.so.6",
        "libgcc_s.so.1",
        "libm.so.6",
        "libstdc++.so.6",
    }
    with open(path, "rb") as file:
        kinds = {segment["p_type"] for segment in ELFFile(file).iter_segments()}
    assert "PT_TLS" not in kinds


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


OPERATOR = {
    "op_name": "triple",
    "input_desc": [{"name": "x", "dtype": ["float32"], "shape": [-2]}],
    "output_desc": [{"name": "z", "dtype": ["float32"], "shape": [-2]}],
}
KERNEL = """
#include <opwright/kernel.h>
class TripleKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    const auto& x = in.GetTensor(0);
    for (int64_t i = 0; i < x.Size(); ++i)
      out->GetTensor(0)->Data<float>()[i] = 3 * x.Data<float>()[i];
    return opwright::SUCCESS;
  }
};
"""
PROGRAM = """
#include <opwright/c_api.h>

#include <cstdio>

int main(int, char** argv) {
  OpwrightLibraryHandle* library = nullptr;
  OpwrightOperator* op = nullptr;
  OpwrightError* error = opwright_library_load(argv[1], nullptr, &library);
  if (error == nullptr) error = opwright_operator_find(library, "triple", &op);
  float x[2] = {1, 2};
  float z[2] = {};
  int64_t shape[1] = {2};
  OpwrightTensor in = {x, 1, 0, 1, {kOpwrightFloat, 32, 1}, shape, nullptr, 0};
  OpwrightTensor out = {z, 1, 0, 1, {kOpwrightFloat, 32, 1}, shape, nullptr, 0};
  const OpwrightArgument input = {&in, 1};
  const OpwrightArgument output = {&out, 1};
  if (error == nullptr) error = opwright_operator_call(op, &input, 1, &output, 1, nullptr, 0);
  if (error != nullptr) {
    std::fprintf(stderr, "%s\\n", error->message);
    error->destroy(error);
    return 1;
  }
  std::printf("%g %g\\n", z[0], z[1]);
  opwright_operator_release(op);
  opwright_library_close(library);
  return 0;
}
"""


def test_a_cxx_program_builds_an_operator_with_its_project_and_calls_it_without_python(tmp_path):
    folder = tmp_path / "triple"
    folder.mkdir()
    (folder / "op.json").write_text(json.dumps(OPERATOR))
    (folder / "kernel.cpp").write_text(KERNEL)
    (tmp_path / "user.cc").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(user CXX)\n"
        "find_package(Opwright REQUIRED)\n"
        "opwright_add_library(triple triple)\n"
        "add_executable(user user.cc)\n"
        "target_link_libraries(user PRIVATE Opwright::opwright)\n"
    )
    build = tmp_path / "build"
    for command in (
        ["cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={PACKAGE / 'cmake'}"],
        ["cmake", "--build", build],
    ):
        subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run(
        [build / "user", build / "libtriple.so"], capture_output=True, text=True, check=False
    )
    assert (printed.stderr, printed.stdout) == ("", "3 6\n")
