# SPDX-License-Identifier: Apache-2.0
"""opwright doctor: versions of packages, and pairs of them that do not go together."""

import shutil

import pytest
from doctor import GOOD, ask_of
from fake_environment import Environment

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
