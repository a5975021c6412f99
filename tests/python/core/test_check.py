# SPDX-License-Identifier: Apache-2.0
"""opwright check as a program: exit codes, the text for people and the JSON for programs."""

import json
import math
import os
import subprocess
from itertools import product

import pytest
from command import BINARY, ROOT, run

import opwright

KERNEL = """#include <opwright/kernel.h>
using opwright::OpKernelInput;
using opwright::OpKernelOutput;
class SquareKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
    const double* x = in.GetTensor(0).Data<double>();
    double* y = out->GetTensor(0)->Data<double>();
    for (int64_t i = 0; i < in.GetTensor(0).Size(); ++i) y[i] = x[i] * x[i];
    return opwright::SUCCESS;
  }
};
class SquareGradKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
    const double* x = in.GetTensor(0).Data<double>();
    const double* g = in.GetTensor(1).Data<double>();
    double* gx = out->GetTensor(0)->Data<double>();
    for (int64_t i = 0; i < in.GetTensor(0).Size(); ++i) gx[i] = FACTOR * x[i] * g[i];
    return opwright::SUCCESS;
  }
};
"""


def param(name):
    return {"name": name, "dtype": ["float64"], "format": ["ND"], "shape": [-2]}


def metadef(name, inputs, outputs, rule, **more):
    return {
        "op_name": name,
        "op_type": "Custom",
        "input_desc": [param(n) for n in inputs],
        "output_desc": [param(n) for n in outputs],
        "shape_rule": rule,
        **more,
    }


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OPWRIGHT_CACHE", os.fspath(tmp_path / "cache"))

    def make(factor="2", kernel=KERNEL):
        path = tmp_path / "square"
        path.mkdir()
        (path / "square.cpp").write_text(kernel.replace("FACTOR", factor), encoding="utf-8")
        operators = [
            metadef("square", ["x"], ["y"], "same(x)", gradient="square_grad"),
            metadef("square_grad", ["x", "grad_y"], ["grad_x"], "forward"),
        ]
        (path / "op.json").write_text(json.dumps(operators), encoding="utf-8")
        return path

    return make


def edited(path, change):
    """The operator folder with its metadefs changed."""
    operators = json.loads((path / "op.json").read_text())
    change(operators)
    (path / "op.json").write_text(json.dumps(operators), encoding="utf-8")
    return path


def test_what_the_build_warns_of_comes_first(folder):
    path = edited(folder(), lambda operators: operators[0].update(side_efect=True))
    result = run("check", path)
    assert result.returncode == 0, result.stdout + result.stderr
    first, second = result.stdout.splitlines()[:2]
    assert "side_efect" in first and "[MD005]" in first
    assert second.startswith("square: right (")
    (warning,) = json.loads(run("check", path, "--format", "json").stdout)["warnings"]
    assert warning["id"] == "MD005"


def test_an_error_of_the_metadef_comes_with_the_warnings_that_explain_it(folder):
    def misspell(operators):
        operators[0]["output_des"] = operators[0].pop("output_desc")

    result = run("check", edited(folder(), misspell))
    assert result.returncode == 2
    assert "MD006" in result.stderr
    assert 'write "output_desc"' in result.stderr and "output_des" in result.stderr
    assert "MD005" in result.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [*product(["seed"], [-1, 2**64, "a"]), *product(["timeout"], [0, -1.0, math.nan, "60"])],
)
def test_a_seed_or_timeout_that_is_none_is_refused(folder, name, value):
    with pytest.raises(ValueError, match=f"opwright.check: {name} is "):
        opwright.check(folder(), **{name: value})


def test_a_right_operator_is_exit_0(folder):
    result = run("check", folder())
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.startswith("square: right (")
    assert "gradient of x: right" in result.stdout


def test_a_wrong_gradient_is_exit_1_and_names_both_values(folder):
    result = run("check", "--format", "json", folder(factor="1"))
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert report["verdict"] == "wrong"
    (operator,) = report["operators"]
    (row,) = operator["gradients"]
    assert row["input"] == "x" and row["checked"] and not row["right"]
    assert row["kind"] == "missing factor: every element is 0.5 times what is right"
    assert row["worst"]["expected"] == pytest.approx(2 * row["worst"]["got"])
    assert row["worst"]["index"].startswith("[")


def test_a_sample_is_told(folder):
    path = folder()
    (row,) = json.loads(run("check", "--format", "json", path).stdout)["operators"][0]["gradients"]
    sample = row["sample"]
    assert 24 <= sample["elements"] < 256 < sample["of"]
    text = f"of large inputs a sample ({sample['elements']} of {sample['of']} elements)"
    assert text in run("check", path).stdout


def test_a_crash_is_exit_1_and_the_report_is_whole(folder):
    crash = KERNEL.replace("double* g =", "double* g = nullptr; g =").replace(
        "g[i];", "g[i + 1000000];"
    )
    result = run("check", "--format", "json", folder(kernel=crash))
    assert result.returncode == 1
    report = json.loads(result.stdout)
    assert any(f["id"] in ("CK001", "CK002") for f in report["operators"][0]["findings"])


def test_what_the_kernel_prints_is_not_in_the_report(folder):
    chatty = KERNEL.replace(
        "const double* x =", 'printf("hello from the kernel\\n"); const double* x ='
    )
    result = run("check", "--format", "json", folder(kernel=chatty))
    assert result.returncode == 0
    assert json.loads(result.stdout)["verdict"] == "right"


def test_what_does_not_build_is_exit_2(folder):
    result = run("check", folder(kernel="#include <opwright/kernel.h>\nint x = ;\n"))
    assert result.returncode == 2
    assert result.stdout == ""
    assert "error: " in result.stderr


def test_what_does_not_build_is_an_error_in_the_json(folder):
    path = folder(kernel=KERNEL.replace("FACTOR", "2") + "int x = ;\n")
    result = run("check", "--format", "json", path)
    assert result.returncode == 2
    report = json.loads(result.stdout)
    assert report["verdict"] == "undecided" and report["operators"] == []
    assert report["errors"][0]["id"] == "BD013"
    assert "error: " in result.stderr


def test_an_error_in_the_json_has_the_form_of_a_warning(folder):
    def misspell(operators):
        operators[0]["output_des"] = operators[0].pop("output_desc")

    result = run("check", "--format", "json", "--seed", "3", edited(folder(), misspell))
    assert result.returncode == 2
    report = json.loads(result.stdout)
    assert (report["verdict"], report["seed"], report["operators"]) == ("undecided", 3, [])
    assert [d["id"] for d in report["errors"]][1:] == ["MD006"]
    assert [d["id"] for d in report["warnings"]] == ["MD005"]
    assert all(d.keys() == report["warnings"][0].keys() for d in report["errors"])
    assert report["errors"][1]["line"] > 0


def test_what_is_right_has_no_errors_in_the_json(folder):
    assert json.loads(run("check", "--format", "json", folder()).stdout)["errors"] == []


def test_what_is_not_there_is_exit_2(tmp_path):
    result = run("check", tmp_path / "none.so")
    assert result.returncode == 2
    assert "LD001" in result.stderr


def test_a_kernel_that_refuses_every_call_is_exit_2(folder):
    refuses = KERNEL.replace(
        "const double* x =", 'return opwright::Status::Error("no"); const double* x ='
    )
    result = run("check", folder(kernel=refuses))
    assert result.returncode == 2, result.stdout
    assert "CK018" in result.stdout


def test_an_unknown_operator_is_exit_2(folder):
    result = run("check", folder(), "--op", "sqare")
    assert result.returncode == 2
    assert "did you mean square?" in result.stderr


def test_the_backward_operator_alone_is_checked_through_its_forward_one(folder):
    result = run("check", folder(), "--op", "square_grad")
    assert result.returncode == 0
    assert result.stdout.startswith("square: right")


def test_the_example_is_right(tmp_path, monkeypatch):
    monkeypatch.setenv("OPWRIGHT_CACHE", os.fspath(tmp_path / "cache"))
    assert run("check", ROOT / "examples/fused_add_scale").returncode == 0


STATIC = """
#include <cstdlib>
#include <unistd.h>
static struct Static {
  Static() { BEGIN }
  ~Static() { END }
} of_the_library;
"""


@pytest.mark.parametrize("place", ["BEGIN", "END"])
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("_exit(0);", "ended the process with status 0"),
        ("for (;;) usleep(1000);", "did not come back within 1 s"),
        ("abort();", "crashed with SIGABRT"),
        ("*(volatile int*)8 = 1;", "crashed with SIGSEGV"),
        ("throw 1;", "exception left"),
    ],
)
def test_what_runs_without_a_call_is_judged(folder, place, code, words):
    wrong = STATIC.replace(place, code).replace("BEGIN", "").replace("END", "")
    result = run("check", "--timeout", "1", folder(kernel=KERNEL + wrong))
    assert result.returncode == 1, result.stdout + result.stderr
    assert words in result.stdout
    assert ("constructor" if place == "BEGIN" else "destructor") in result.stdout
    assert "CK021" in result.stdout
    assert ": wrong, 0 operators" in result.stdout


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_limit_is_a_number_of_seconds(folder, seconds):
    result = run("check", f"--timeout={seconds}", folder())
    assert result.returncode == 2
    assert f"{seconds} is no number of seconds above 0" in result.stderr


@pytest.mark.parametrize("seed", ["99999999999999999999", "18446744073709551616", "-1", "1.5", "x"])
def test_a_seed_is_a_number_of_64_bits(folder, seed):
    result = run("check", f"--seed={seed}", folder())
    assert result.returncode == 2
    assert f"{seed} is no number from 0 to 18446744073709551615" in result.stderr


def test_the_largest_seed_is_one(folder):
    result = run("check", "--format", "json", f"--seed={2**64 - 1}", folder())
    assert json.loads(result.stdout)["seed"] == 2**64 - 1


def test_a_full_disk_is_not_a_success(folder):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for arguments in (["build", folder()], ["--version"], ["cache", "path"]):
            done = subprocess.run(
                [BINARY, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE, check=False
            )
            assert done.returncode == 2
            assert b"cannot write to standard output: No space left" in done.stderr
