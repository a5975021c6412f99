# SPDX-License-Identifier: Apache-2.0
"""Mistakes with mindspore.ops.Custom, each in every mode: what MindSpore makes of it, and what
Opwright.

Each row makes an operator of a class that is given, MindSpore's own or opwright's, and uses it.
The test runs the rows with ours; tools/mistakes_table.py runs both, each in a process of its own,
and writes docs/mindspore-mistakes.md.
"""

import functools
import json
import pathlib
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

import opwright

MODES = ("pynative", "jit", "graph")

_BINARY = {
    "dtype": ["float32"],
    "format": ["ND"],
    "shape": [-2],
}


def _metadef(name: str, inputs: str) -> dict:
    return {
        "op_name": name,
        "input_desc": [{"name": each, **_BINARY} for each in inputs],
        "output_desc": [{"name": "z", **_BINARY}],
        "shape_rule": {"z": f"same({', '.join(inputs)})"},
    }


_METADEFS = [
    _metadef("mul", "xy"),
    _metadef("square", "x"),
    _metadef("fails", "xy"),
    _metadef("throws", "xy"),
    _metadef("throws_int", "xy"),
    _metadef("multiple", "x") | {"attr": [{"name": "factor", "type": "int", "default_value": 1}]},
]
_KERNEL = """
class {name} : public OpKernelBase {{
 public:
  Status Compute(const OpKernelInput& in, OpKernelOutput* out) {{
    const float* a = in.GetTensor(0).Data<float>();
    float* c = out->GetTensor(0)->Data<float>();
    for (int64_t i = 0; i < out->GetTensor(0)->Size(); ++i) {{ {body}; }}
    (void)a, (void)c;
    return SUCCESS;
  }}
}};
"""
_BODIES = {
    "MulKernel": "c[i] = a[i] * in.GetTensor(1).Data<float>()[i]",
    "SquareKernel": "c[i] = a[i] * a[i]",
    "FailsKernel": 'return Status::Error("the matrix is singular at row %d", static_cast<int>(i))',
    "ThrowsKernel": 'throw std::runtime_error("the table is empty")',
    "ThrowsIntKernel": "throw 7",
    "MultipleKernel": 'c[i] = a[i] * static_cast<float>(in.Attr<int64_t>("factor"))',
}


def library(folder: pathlib.Path) -> str:
    """The operators of the rows, as one library."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "op.json").write_text(json.dumps(_METADEFS))
    (folder / "kernel.cpp").write_text(
        "#include <opwright/kernel.h>\n#include <stdexcept>\nusing namespace opwright;\n"
        + "".join(_KERNEL.format(name=name, body=body) for name, body in _BODIES.items())
    )
    return opwright.build(folder)


FOREIGN = """
extern "C" int twice(int, void** params, int* ndims, long** shapes, const char**, void*, void*) {
  long n = 1;
  for (int k = 0; k < ndims[0]; ++k) n *= shapes[0][k];
  for (long i = 0; i < n; ++i)
    static_cast<float*>(params[1])[i] = 2 * static_cast<float*>(params[0])[i];
  return 0;
}
"""


def foreign(folder: pathlib.Path) -> str:
    """A library by MindSpore's own interface, which Opwright has not built."""
    path = folder / "libforeign.so"
    if not path.exists():
        command = ["c++", "-shared", "-fPIC", "-x", "c++", "-", "-o", str(path)]
        subprocess.run(command, input=FOREIGN, text=True, check=True)
    return str(path)


def foreign_source(folder: pathlib.Path) -> str:
    path = folder / "foreign.cc"
    path.write_text(FOREIGN)
    return str(path)


def broken_source(folder: pathlib.Path) -> str:
    path = folder / "broken.cc"
    path.write_text(FOREIGN.replace("long n = 1;", "long n = one;"))
    return str(path)


def product(x, y):
    return x * y


def scaled(factor, x):
    return factor * x


class Use:
    """What a row works with: one class of Custom, one library, one mode."""

    def __init__(self, custom, library: str, mode: str, folder: pathlib.Path):
        self.custom = custom
        self.library = library
        self.mode = mode
        self.folder = folder

    def op(self, name: str = "mul", bprop=None, out_shape=None, out_dtype=None):
        """An operator as MindSpore wants it: shape and dtype are those of the first input."""
        shape = out_shape if out_shape is not None else first
        dtype = out_dtype if out_dtype is not None else first
        return self.custom(f"{self.library}:{name}", shape, dtype, "aot", bprop)

    def run(self, op, *inputs):
        """The operator's result in this mode."""
        return self.compiled(op)(*inputs).asnumpy()

    def gradients(self, op, *inputs, positions=None):
        """Its gradients by every input."""
        positions = tuple(range(len(inputs))) if positions is None else positions
        grads = ms.grad(self.compiled(op), positions)(*inputs)
        return [
            g if g is None else g.asnumpy()
            for g in (grads if isinstance(grads, tuple) else (grads,))
        ]

    def compiled(self, op):
        """The operator as a function of this mode."""
        if self.mode == "graph":
            ms.set_context(mode=ms.GRAPH_MODE)
            return _Net(op)
        return ms.jit(_calling(op)) if self.mode == "jit" else _calling(op)


class _Net(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, *inputs):
        return self.op(*inputs)


def _calling(op):
    def call(*inputs):
        return op(*inputs)

    return call


def first(x, *_):
    return x


def vector(*values, dtype=np.float32):
    return Tensor(np.array(values, dtype))


X, Y = vector(1, 2, 3, 4), vector(5, 6, 7, 8)


# ---- The bprops ---------------------------------------------------------------------------------


def bare(x, y, out, dout):
    return dout * y


def short(x, y, out, dout):
    return (dout * y,)


def long(x, y, out, dout):
    return (dout * y, dout * x, dout)


def as_list(x, y, out, dout):
    return [dout * y, dout * x]


def with_none(x, y, out, dout):
    return (dout * y, None)


def nothing(x, y, out, dout):
    dout * y


def bare_of_one(x, out, dout):
    return 2 * x * dout


def wrong_shape(x, y, out, dout):
    return (dout * y, (dout * x).sum())


def half(x, y, out, dout):
    return (ms.ops.cast(dout * y, ms.float16), ms.ops.cast(dout * x, ms.float64))


def whole_numbers(x, y, out, dout):
    return (ms.ops.cast(dout * y, ms.int32), dout * x)


def too_few(x, out, dout):
    return (dout,)


def right(x, y, out, dout):
    return (dout * y, dout * x)


# ---- The rows -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """due: the words of our error, or None where Opwright makes it right."""

    name: str
    use: Callable[[Use], object]
    due: str | None
    error: type[Exception] = Exception
    right: object = None


def _refused(name, due, error):
    def add(use):
        ROWS.append(Row(name, use, due, error))
        return use

    return add


def _made_right(name, value):
    def add(use):
        ROWS.append(Row(name, use, None, right=value))
        return use

    return add


ROWS: list[Row] = []
_PRODUCT = [5, 12, 21, 32]
_GRADIENTS = [[5, 6, 7, 8], [1, 2, 3, 4]]

for _rule, _name, _due, _error in (
    (bare, "bprop returns a tensor", "mul: the bprop returned a bare tensor", RuntimeError),
    (short, "bprop returns too few", "mul: the bprop returned 1 gradient, 2 are due", RuntimeError),
    (
        long,
        "bprop returns too many",
        "mul: the bprop returned 3 gradients, 2 are due",
        RuntimeError,
    ),
    (as_list, "bprop returns a list", "mul: the bprop returned a list", RuntimeError),
    (with_none, "bprop returns None for an input", "None for input y", RuntimeError),
    (nothing, "bprop returns nothing", "mul: the bprop returned nothing", RuntimeError),
    (wrong_shape, "gradient of another shape", "input y has shape [], [4] is due", RuntimeError),
    (whole_numbers, "gradient of ints", "gradient of input x is dtype int32", RuntimeError),
    (too_few, "bprop with too few parameters", "def bprop(x, y, out, dout)", RuntimeError),
    (None, "no bprop", "mul has no gradient", RuntimeError),
):
    _refused(_name, _due, _error)(lambda use, rule=_rule: use.gradients(use.op(bprop=rule), X, Y))

_refused(
    "one input, bprop returns a tensor", "square: the bprop returned a bare tensor", RuntimeError
)(lambda use: use.gradients(use.op("square", bare_of_one), X))
_made_right("gradients in other float dtypes", _GRADIENTS)(
    lambda use: use.gradients(use.op(bprop=half), X, Y)
)
_made_right("bprop is a lambda inside of the call", _GRADIENTS)(
    lambda use: use.gradients(use.op(bprop=lambda x, y, out, dout: (dout * y, dout * x)), X, Y)
)

for _type in ("akg", "hybrid", "tvm"):
    _refused(f'library with func_type="{_type}"', 'use func_type="aot" [CL021]', TypeError)(
        lambda use, kind=_type: use.run(use.custom(f"{use.library}:mul", first, first, kind), X, Y)
    )
_refused(
    'library with func_type="tbe"',
    'does not run on the CPU; use "aot" or "pyfunc" [CL021]',
    TypeError,
)(lambda use: use.run(use.custom(f"{use.library}:mul", first, first, "tbe"), X, Y))
_refused('func_type="customise"', "did you mean 'customize'? [CL021]", TypeError)(
    lambda use: use.run(use.custom("mul", first, first, "customise"), X, Y)
)
_refused("library without func_type", 'write func_type="aot"', TypeError)(
    lambda use: use.run(use.custom(f"{use.library}:mul", first, first), X, Y)
)
_refused('function with func_type="aot"', "takes the path of a library", TypeError)(
    lambda use: use.run(use.custom(right, first, first, "aot"), X, Y)
)
_refused("library that is not there", "working folder", RuntimeError)(
    lambda use: use.run(use.custom("./nowhere/libx.so:mul", first, first, "aot"), X, Y)
)


@_made_right("relative path, then another working folder", _PRODUCT)
def _relative(use):
    import os

    here = os.getcwd()
    os.chdir(pathlib.Path(use.library).parent)
    try:
        op = use.custom(f"./{pathlib.Path(use.library).name}:mul", first, first, "aot", right)
        os.chdir("/")
        return use.run(op, X, Y)
    finally:
        os.chdir(here)


@_refused("a text file named .so", "not an ELF file", RuntimeError)
def _text_file(use):
    path = use.folder / "libtext.so"
    path.write_text("no library")
    return use.run(use.custom(f"{path}:mul", first, first, "aot"), X, Y)


@_refused("a folder named .so", "no source", RuntimeError)
def _folder(use):
    path = use.folder / "libfolder.so"
    path.mkdir(exist_ok=True)
    return use.run(use.custom(f"{path}:mul", first, first, "aot"), X, Y)


_refused("function that the library has not", "no operator mull", RuntimeError)(
    lambda use: use.run(use.op("mull"), X, Y)
)
_refused(
    "library without :function, with several operators", "say which one by name", RuntimeError
)(lambda use: use.run(use.custom(use.library, first, first, "aot"), X, Y))
_made_right("out_shape=[4], out_dtype=[float32]", _PRODUCT)(
    lambda use: use.run(use.op(out_shape=[4], out_dtype=[ms.float32]), X, Y)
)
_made_right("out_dshape for out_shape", _PRODUCT)(
    lambda use: use.run(
        use.custom(f"{use.library}:mul", out_dshape=[4], out_dtype=[ms.float32], func_type="aot"),
        X,
        Y,
    )
)
_refused("out_shape and out_dshape", "two names for one argument", ValueError)(
    lambda use: use.run(
        use.custom(f"{use.library}:mul", [4], ms.float32, "aot", out_dshape=[4]),
        X,
        Y,
    )
)
_refused("out_shape that is not the kernel's", "out_shape says [8]", ValueError)(
    lambda use: use.run(use.op(out_shape=[8]), X, Y)
)
_refused("out_dtype that is not the kernel's", "out_dtype says Float16", ValueError)(
    lambda use: use.run(use.op(out_dtype=ms.float16), X, Y)
)
_made_right("no out_shape and no out_dtype", _PRODUCT)(
    lambda use: use.run(use.custom(f"{use.library}:mul", func_type="aot"), X, Y)
)
_refused("two shapes, one dtype", "the counts must agree", ValueError)(
    lambda use: use.run(use.op(out_shape=([4], [4]), out_dtype=ms.float32), X, Y)
)
_refused("out_shape is a text", "a shape such as [8] is due", ValueError)(
    lambda use: use.run(use.op(out_shape="8"), X, Y)
)
_refused("too few inputs", "1 inputs given", ValueError)(
    lambda use: use.run(use.op(bprop=right), X)
)
_refused("inputs that do not fit", "must have equal shapes", ValueError)(
    lambda use: use.run(use.op(), X, vector(1, 2, 3))
)
_refused("input of a dtype that is not listed", "not in metadef", TypeError)(
    lambda use: use.run(use.op(), vector(1, 2, dtype=np.int32), vector(1, 2, dtype=np.int32))
)
_refused(
    "kernel returns an error",
    "fails: the kernel failed: the matrix is singular at row 0",
    RuntimeError,
)(lambda use: use.run(use.op("fails"), X, Y))
_refused(
    "kernel throws", "throws: the kernel failed: Compute threw: the table is empty", RuntimeError
)(lambda use: use.run(use.op("throws"), X, Y))
_refused("kernel throws an int", "throws_int: the kernel failed", RuntimeError)(
    lambda use: use.run(use.op("throws_int"), X, Y)
)


_refused("numpy array as input", "input y is required and was not given", ValueError)(
    lambda use: use.run(use.op(), X, np.ones(4, np.float32))
)
_refused("another library without out_shape", "out_shape is missing", ValueError)(
    lambda use: use.run(use.custom(f"{foreign(use.folder)}:twice", None, first, "aot"), X)
)
_refused("function that another library has not", "has no function thrice", RuntimeError)(
    lambda use: use.run(use.custom(f"{foreign(use.folder)}:thrice", first, first, "aot"), X)
)
_refused(
    "another library, bprop returns a tensor",
    "twice: the bprop returned a bare tensor",
    RuntimeError,
)(
    lambda use: use.gradients(
        use.custom(f"{foreign(use.folder)}:twice", first, first, "aot", bare_of_one), X
    )
)
_made_right("source by MindSpore's own interface", [2, 4, 6, 8])(
    lambda use: use.run(use.custom(f"{foreign_source(use.folder)}:twice", first, first, "aot"), X)
)
_refused("source that does not compile, the second time too", "does not compile", RuntimeError)(
    lambda use: use.run(use.custom(f"{broken_source(use.folder)}:twice", first, first, "aot"), X)
)
_refused("another library, no bprop", "twice has no gradient", RuntimeError)(
    lambda use: use.gradients(use.custom(f"{foreign(use.folder)}:twice", first, first, "aot"), X)
)
_refused("Python function, bprop returns too many", "3 gradients, 2 are due", RuntimeError)(
    lambda use: use.gradients(use.custom(product, first, first, "pyfunc", long), X, Y)
)


_NO_TENSOR = "input 1 is None or of another framework"
for _name, _value, _due in (
    ("None", None, _NO_TENSOR),
    ("numpy array", np.ones(4, np.float32), _NO_TENSOR),
    ("tuple", (1, 2), "input 1 is a tuple"),
    ("text", "text", "input 1 is a str"),
):
    _refused(f"{_name} to a Python function", f"product: {_due}", ValueError)(
        lambda use, value=_value: use.run(use.custom(product, first, first), X, value)
    )
_refused("too few inputs to a Python function", "1 input given", ValueError)(
    lambda use: use.run(use.custom(product, first, first), X)
)
for _name, _value in (("None", None), ("numpy array", np.ones(4, np.float32))):
    _refused(f"{_name} to another library", f"twice: {_NO_TENSOR}", ValueError)(
        lambda use, value=_value: use.run(
            use.custom(f"{foreign(use.folder)}:twice", first, first, "aot"), X, value
        )
    )
_made_right("empty tensor to a Python function", [])(
    lambda use: use.run(use.custom(product, first, first), vector(), vector())
)
_made_right("functools.partial as a Python function", [2, 4, 6, 8])(
    lambda use: use.run(use.custom(functools.partial(scaled, np.float32(2)), first, first), X)
)
_made_right("ufunc as a Python function", _PRODUCT)(
    lambda use: use.run(use.custom(np.multiply, first, first), X, Y)
)


@_made_right("attribute set after the first call", [[2, 4, 6, 8], [3, 6, 9, 12]])
def _later(use):
    op = use.op("multiple")
    call = use.compiled(op)
    made = []
    for factor in (2, 3):
        op.add_prim_attr("factor", factor)
        made.append(call(X).asnumpy())
    return made


@_refused("attribute that the operator has not", "did you mean factor?", TypeError)
def _misspelt(use):
    op = use.op("multiple")
    op.add_prim_attr("facter", 2)
    return use.run(op, X)


@_made_right("ms.grad of the operator itself", _GRADIENTS)
def _itself(use):
    op = use.op(bprop=right)
    if use.mode == "graph":
        ms.set_context(mode=ms.GRAPH_MODE)
    call = ms.jit(op) if use.mode == "jit" else op
    return [grad.asnumpy() for grad in ms.grad(call, (0, 1))(X, Y)]


@_made_right("four operators of one function, declared apart", [[4, 1], [2, 2], [4, 1], [2, 2]])
def _four(use):
    shapes = []
    for shape in ([4, 1], [2, 2], [4, 1], [2, 2]):
        x = Tensor(np.ones(shape, np.float32))
        op = use.op(out_shape=shape, out_dtype=ms.float32)
        shapes.append(list(use.run(op, x, x).shape))
    return shapes
