# SPDX-License-Identifier: Apache-2.0
"""How libraries get into PyTorch: by its own loader, in every order of imports."""

import pathlib
import struct
import subprocess

import pytest

# What a test's process does first; the rest of it is given the paths as arguments.
LOAD = """
import sys, torch
for path in sys.argv[1:]: torch.ops.load_library(path)
ops = torch.ops.opwright
"""
X = "x = torch.ones(2, 2, dtype=torch.float64)\ng = x.clone().requires_grad_()\n"
REFUSED = """
def refused(call):
    try:
        call()
    except RuntimeError as error:
        assert "requires a gradient, and none is registered" in str(error), error
        assert "[GR001]" in str(error), error
        assert "opwright.load" in str(error), error
    else:
        raise SystemExit("not refused")
"""


def test_the_frameworks_loader_alone_gives_right_values(run_python, built):
    code = f"""{LOAD}{X}
assert "opwright" not in sys.modules
assert torch.equal(ops.linear(x, 2 * x, x[0]), x @ (2 * x) + 1)
assert torch.equal(ops.linear(x, x, alpha=3.0), 3 * x @ x)
assert torch.equal(ops.sum_squares([x, 2 * x]), 9 * x)
assert torch.equal(ops.square(x.half()), x.half())
values, index = ops.greatest(torch.tensor([[1.0, 3.0, 2.0]]))
assert values.tolist() == [3] and index.tolist() == [1] and index.dtype == torch.int64
assert [t.tolist() for t in ops.add_parts(None, x, [x, x])] == [(2 * x).tolist()] * 2
assert torch.equal(torch.vmap(ops.square)(x), x)
"""
    assert "Overriding" not in run_python(code, built("inputs"), built("elementwise")).stderr


def test_without_opwright_an_input_that_requires_a_gradient_is_refused(run_python, built):  # G01
    code = f"""{LOAD}{X}{REFUSED}
refused(lambda: ops.linear(g, x))
refused(lambda: ops.linear(x, x, g[0]))       # optional
refused(lambda: ops.linear(x, x, bias=g[0]))
refused(lambda: ops.sum_squares([x, g]))      # in a list
refused(lambda: ops.square(g * 1))            # no leaf
refused(lambda: ops.square(g[0].t()))
assert not ops.square(g.detach()).requires_grad
with torch.no_grad():
    assert torch.equal(ops.linear(g, g, g[0]), x @ x + 1)
    assert torch.equal(ops.sum_squares([g]), x)
with torch.inference_mode():
    ops.square(g)
# Refusing has changed nothing.
assert g.requires_grad and g.grad is None and not x.requires_grad
"""
    run_python(code, built("inputs"), built("elementwise"))


def test_a_refused_call_keeps_none_of_its_inputs(run_python, built):
    code = f"""{LOAD}{REFUSED}
def resident():
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * 4096
MIB = 1 << 20
x = torch.ones(MIB, dtype=torch.float64, requires_grad=True)  # 8 MiB
start = resident()
for _ in range(20):
    refused(lambda: ops.square(x + 1))
    refused(lambda: ops.sum_squares([x + 1, x + 2]))
    refused(lambda: ops.linear(x + 1, x + 1, x + 1))
assert resident() - start < 100 * MIB, (resident() - start) // MIB
"""
    run_python(code, built("inputs"), built("elementwise"))


def test_without_opwright_an_input_with_a_tangent_is_refused(run_python, built):
    code = f"""{LOAD}{X}
from torch.autograd import forward_ad
def refused(call):
    try:
        call()
    except RuntimeError as error:
        assert "has a tangent" in str(error) and "[GR010]" in str(error), error
    else:
        raise SystemExit("not refused")
refused(lambda: torch.func.jvp(ops.square, (x,), (x,)))
refused(lambda: torch.func.jvp(lambda x: ops.sum_squares([x, x]), (x,), (x,)))
with forward_ad.dual_level():
    dual = forward_ad.make_dual(x, x)
    refused(lambda: ops.linear(x, x, dual[0]))
    with torch.no_grad():
        refused(lambda: ops.square(dual))
    assert torch.equal(ops.square(x), x)
"""
    run_python(code, built("inputs"), built("elementwise"))


def test_nothing_of_the_guard_is_left_where_opwright_takes_over(run_python, built):
    code = f"""{LOAD}
assert torch._C._dispatch_find_schema_or_throw("opwright::_square_without_gradient", "")
import opwright
opwright.load(sys.argv[1])
names = torch._C._dispatch_get_all_op_names()
assert "opwright::square" in names
assert [name for name in names if "without_gradient" in name] == []
g = torch.ones(2, dtype=torch.float64, requires_grad=True)
ops.square(g).sum().backward()
assert g.grad is not None
"""
    run_python(code, built("elementwise"))


def test_without_opwright_errors_have_the_operators_words(run_python, built):
    code = f"""{LOAD}{X}
for call, words in (
    (lambda: ops.linear(x, torch.ones(3, 2, dtype=torch.float64)), "k = 2 (from x), got 3"),
    (lambda: ops.linear(x, x.float()[:, :1].int()), "CL00"),
    (lambda: ops.square(x.to_sparse()), ""),
):
    try:
        call()
    except (RuntimeError, NotImplementedError) as error:
        assert words in str(error), error
    else:
        raise SystemExit(f"no error: {{words}}")
"""
    run_python(code, built("inputs"), built("elementwise"))


GRADIENTS = """
loss = torch.ops.opwright.square(g).sum() + torch.ops.opwright.linear(x, g, g[0]).sum()
loss.backward()
y = g.detach().clone().requires_grad_()
((y * y).sum() + (x @ y + y[0]).sum()).backward()
assert torch.equal(g.grad, y.grad), g.grad
"""

HAND_OVER = "for path in sys.argv[1:]: opwright.load(path)\n"
THREAD = """
def load():
    for path in sys.argv[1:]: opwright.load(path)
thread = threading.Thread(target=load)
thread.start()
thread.join()
"""
ORDERS = {
    "opwright, torch, load_library": f"import opwright\n{LOAD}",
    "torch, opwright, load_library": f"import torch, opwright\n{LOAD}",
    "load_library, opwright": f"{LOAD}import opwright\n{HAND_OVER}",
    "opwright.load, torch": "import sys, opwright\n"
    "held = [opwright.load(path) for path in sys.argv[1:]]\n"
    "import torch\n",
    "opwright.load, dropped, torch": f"import sys, opwright\n{HAND_OVER}import torch\n",
    "torch, opwright.load": f"import sys, torch, opwright\n{HAND_OVER}",
    "operator, torch": "import sys, opwright\n"
    "op = opwright.load(sys.argv[2]).square\n"
    "opwright.load(sys.argv[1])\n"
    "import torch\n",
    "torch.nn first": f"import sys, opwright, torch.nn\n{HAND_OVER}",
    "both loaders": f"import opwright\n{LOAD}{HAND_OVER}{LOAD}",
    "in a thread": f"import sys, threading, torch, opwright\n{THREAD}",
}


@pytest.mark.parametrize("order", ORDERS)
def test_gradients_work_in_every_order_of_imports(run_python, built, order):  # L02 P05
    result = run_python(f"{ORDERS[order]}{X}{GRADIENTS}", built("inputs"), built("elementwise"))
    assert "Overriding" not in result.stderr
    assert "opwright:" not in result.stderr


def test_a_call_before_opwright_is_imported_changes_nothing(run_python, built):
    code = f"""{LOAD}{X}{REFUSED}
refused(lambda: ops.square(g))
ops.linear(x, x)
import opwright
for p in sys.argv[1:]: opwright.load(p)
{GRADIENTS}"""
    assert "Overriding" not in run_python(code, built("inputs"), built("elementwise")).stderr


def test_importing_opwright_completes_what_torch_has_loaded(run_python, built):  # L02
    code = f"{LOAD}import opwright\n{X}{GRADIENTS}"
    assert "Overriding" not in run_python(code, built("inputs"), built("elementwise")).stderr


def test_operators_made_before_torch_is_imported_know_tensors_later(run_python, built):  # L02
    code = """
import sys, opwright
op = opwright.load(sys.argv[1]).square
assert "torch" not in sys.modules
import torch
x = torch.ones(3, requires_grad=True)
op(x).sum().backward()
assert x.grad.tolist() == [2, 2, 2]
"""
    run_python(code, built("elementwise"))


def test_a_library_in_a_local_variable_outlives_its_function(run_python, built):  # L11 L12
    code = """
import gc, sys, torch, opwright
def setup():
    library = opwright.load(sys.argv[1])
    return library.square
op = setup()
gc.collect()
x = torch.ones(3, requires_grad=True)
for _ in range(1000):
    op(x)
y = torch.ops.opwright.square(x)
opwright.load(sys.argv[1]).close()
y.sum().backward()
assert torch.ops.opwright.square(x.detach()).tolist() == [1, 1, 1]
"""
    run_python(code, built("elementwise"))


def test_other_libraries_are_left_to_torch(run_python):
    code = """
import opwright, torch
try:
    torch.ops.load_library("no_such_library.so")
except OSError as error:
    assert "no_such_library.so" in str(error)
else:
    raise SystemExit("loaded")
"""
    run_python(code)


@pytest.mark.parametrize("first", ["opwright, torch", "torch, opwright", "torch"])
def test_a_library_of_another_interface_is_said_by_torchs_loader(
    run_python, built, tmp_path, first
):
    # X09
    raw = bytearray(pathlib.Path(built("elementwise")).read_bytes())
    at = raw.find(b"Opwright\0")  # the note: sizes and type, this name, struct_size, ABI's major
    while struct.unpack_from("<I", raw, at - 12)[0] != 9:
        at = raw.find(b"Opwright\0", at + 1)
    struct.pack_into("<i", raw, at + 16, 99)
    path = tmp_path / "libother.so"
    path.write_bytes(raw)
    late = "" if "opwright" in first else "import opwright"
    done = run_python(
        f"""
import sys, {first}
torch.ops.load_library(sys.argv[1])
{late}
assert torch.ops.opwright.square(torch.full((1,), 3.0)).tolist() == [9]
""",
        path,
    )
    assert done.stderr.count("RuntimeWarning: its operators in PyTorch have no gradients") == 1
    assert "[LD009]" in done.stderr and str(path) in done.stderr


def test_a_library_of_another_kind_is_loaded_without_a_word(run_python, tmp_path):
    source = tmp_path / "other.c"
    source.write_text("int other(void) { return 1; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libother.so", source], check=True)
    code = "import sys, opwright, torch; torch.ops.load_library(sys.argv[1])"
    assert "Warning" not in run_python(code, tmp_path / "libother.so").stderr


def test_a_saved_model_names_the_operator_that_is_missing(run_python, built, tmp_path):  # P05
    saved = tmp_path / "model.pt2"
    run_python(
        """
import sys, torch, opwright
opwright.load(sys.argv[1])
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.ops.opwright.square(x)
torch.export.save(torch.export.export(Model(), (torch.ones(3),)), sys.argv[2])
""",
        built("elementwise"),
        saved,
    )
    again = """
import sys, torch
torch.ops.load_library(sys.argv[1])
model = torch.export.load(sys.argv[2]).module()
assert model(torch.full((3,), 3.0)).tolist() == [9, 9, 9]
"""
    run_python(again, built("elementwise"), saved)
    missing = run_python(
        again.replace("torch.ops.load_library(sys.argv[1])", ""),
        built("elementwise"),
        saved,
        status=1,
    )
    assert "square" in missing.stderr


def test_a_pytorch_that_is_too_old_is_refused_by_name(run_python):
    code = 'import torch; torch.__version__ = "2.9.1"; import opwright'
    words = "opwright.torch needs PyTorch 2.10 or newer, this is 2.9.1 [RG010]"
    assert words in run_python(code, status=1).stderr


def test_without_opwright_what_is_written_is_counted(run_python, built):  # G10
    code = f"""{LOAD}
def write(make):
    saved, x = make(), make()
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    loss = (weight * saved).sum()
    version = saved._version
    with torch.no_grad(): ops.accumulate(saved, x)
    assert saved._version == version + 1 and x._version == 0
    assert saved.tolist() == [2.0] * 3, saved
    try:
        loss.backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), error
    else:
        raise SystemExit("not noticed")
write(lambda: torch.ones(3, dtype=torch.float64))
write(lambda: torch.ones(2, 3, dtype=torch.float64)[0])
saved = torch.ones(3, dtype=torch.float64)
with torch.inference_mode(): ops.accumulate(saved, saved.clone())
assert saved._version == 1 and saved.tolist() == [2.0] * 3
with torch.inference_mode():
    ops.accumulate(torch.ones(3), torch.ones(3))
leaf = torch.ones(3, dtype=torch.float64, requires_grad=True)
with torch.no_grad(): ops.accumulate(leaf, torch.ones(3, dtype=torch.float64))
assert leaf._version == 1 and leaf.is_leaf
import opwright
ops.accumulate(saved, saved.clone())
assert saved._version == 2 and saved.tolist() == [4.0] * 3
"""
    run_python(code, built("effects"))


def test_without_opwright_tensors_that_no_kernel_takes_are_named(run_python, built):
    code = f"""{LOAD}{X}
import warnings
warnings.simplefilter("ignore")
from torch._subclasses.fake_tensor import FakeTensorMode
def traced():
    with FakeTensorMode() as mode: ops.square(mode.from_tensor(x))
class Square(torch.nn.Module):
    def forward(self, x): return ops.square(x)
dense = "input x is no dense tensor; convert it with to_dense() [CL007]"
for call, words in (
    (lambda: ops.square(x.to_sparse()), dense),
    (lambda: ops.square(x.to_sparse_csr()), dense),
    (lambda: ops.square(torch.nested.nested_tensor([x, x])), dense),
    (lambda: ops.square(torch.nested.nested_tensor([x, x], layout=torch.jagged)), dense),
    (lambda: ops.sum_squares([x, x.to_sparse()]), "input xs is no dense"),
    (lambda: ops.linear(x, x, x[0].to("meta")), "input bias is without data"),
    (lambda: ops.square(x.to("meta")), "write import opwright"),
    (lambda: torch.export.export(Square(), (x,)), "write import opwright"),
    (lambda: torch.compile(Square(), backend="eager", fullgraph=True)(x), "write import opwright"),
    (traced, "square: the operator failed, and PyTorch does not say why"),
    (lambda: ops.square(torch.quantize_per_tensor(x.float(), 1.0, 0, torch.qint8)), "qint8"),
    (lambda: ops.square(x.to(torch.float8_e4m3fn)), "float8_e4m3fn"),
):
    try:
        call()
    except RuntimeError as error:
        assert words in str(error), error
        assert "without_gradient" not in str(error), error
    else:
        raise SystemExit(f"no error: {{words}}")
"""
    run_python(code, built("inputs"), built("elementwise"))
