# SPDX-License-Identifier: Apache-2.0
"""Attributes of a Custom that is in use, attributes that there are not, and MindSpore's own."""

import mindspore as ms
import misuse
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, nn
from mindspore.graph import api
from mindspore.ops import CustomRegOp, DataType
from modes import FORWARD, Net, close, forward, mode_of

import opwright
from opwright.mindspore import Custom

X = draw(5)


@pytest.fixture
def power(libraries):
    op = Custom(libraries("elementwise").power)
    op.add_prim_attr("exponent", 2)
    return op


def calling(op):
    def call(x):
        return op(x)

    return call


def differentiating(op):
    call = calling(op)

    def grad(x):
        return ms.grad(call)(x)

    return grad


# Made once, and used before and after the change.
USERS = {
    "call": calling,
    "jit": lambda op: ms.jit(calling(op)),
    "cell": Net,
    "grad": differentiating,
    "grad of jit": lambda op: ms.grad(ms.jit(calling(op))),
    "jit of grad": lambda op: ms.jit(differentiating(op)),
    "grad of cell": lambda op: ms.grad(Net(op)),
}


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("user", USERS)
def test_an_attribute_reaches_what_was_compiled_before(power, user, mode):
    use = USERS[user](power)
    for name, value, scale, exponent in (
        ("exponent", 2, 1, 2),
        ("exponent", 3, 1, 3),
        ("scale", 0.5, 0.5, 3),
        ("exponent", 2, 0.5, 2),
    ):
        power.add_prim_attr(name, value)
        x = wide(X)
        due = scale * exponent * x ** (exponent - 1) if "grad" in user else scale * x**exponent
        with mode_of(mode):
            close(use(X), due)


def test_the_same_value_again_leaves_compiled_functions_alone(power):
    compiled = ms.jit(calling(power))
    compiled(X)
    kept = set(api.ms_compile_cache)
    power.add_prim_attr("exponent", 2)
    assert kept
    assert kept == api.ms_compile_cache
    power.add_prim_attr("exponent", 3)
    assert not api.ms_compile_cache


def test_an_operator_that_no_graph_has_leaves_compiled_functions_alone(power, libraries):
    compiled = ms.jit(calling(power))
    compiled(X)
    kept = set(api.ms_compile_cache)
    other = Custom(libraries("elementwise").power)
    other.add_prim_attr("exponent", 3)
    close(forward(other, (X,)), wide(X) ** 3)
    assert kept == api.ms_compile_cache


@pytest.mark.parametrize("user", ["call", "jit", "grad of jit"])
def test_a_deleted_attribute_has_its_default_again(power, user):
    use = USERS[user](power)
    power.add_prim_attr("scale", 0.5)
    once = use(X).asnumpy()
    power.del_prim_attr("scale")
    close(use(X), 2 * once)
    with pytest.raises(opwright.Error, match=r"attribute exponent .*CL006"):
        power.del_prim_attr("exponent")  # it has no default


FOREIGN = """
#include <string>
struct Extra {  // of MindSpore's AotExtra, as far as is asked
  virtual ~Extra() = default;
  virtual bool HasAttr(std::string name) = 0;
 private:
  virtual bool GetAttrBool(std::string name) = 0;
  virtual long GetAttrInt(std::string name) = 0;
 public:
  long Int(const char* name) { return HasAttr(name) ? GetAttrInt(name) : 1; }
};
extern "C" int scaled(int, void** p, int*, long** shapes, const char**, void*, void* extra) {
  const long factor = static_cast<Extra*>(extra)->Int("factor");
  for (long i = 0; i < shapes[0][0]; ++i)
    static_cast<double*>(p[1])[i] = static_cast<double>(factor) * static_cast<double*>(p[0])[i];
  return 0;
}
"""


@pytest.mark.parametrize("user", ["call", "jit", "cell"])
def test_an_attribute_of_another_library_reaches_it_too(tmp_path, user):
    source = tmp_path / "scaled.cc"
    source.write_text(FOREIGN)
    op = Custom(f"{source}:scaled", misuse.first, misuse.first, "aot")
    use = USERS[user](op)
    for factor in (2, 3):
        op.add_prim_attr("factor", factor)
        with mode_of("graph" if user == "cell" else "pynative"):
            close(use(X), factor * wide(X))


UNKNOWN = {
    "exponnt": r"power: no attribute is named exponnt; there are exponent, scale; did you mean "
    r"exponent\? \[CL006\]",
    "side_effct_io": r"did you mean side_effect_io\? \[CL006\]",
    "x": r"power: no attribute is named x; there are exponent, scale \[CL006\]",
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_name_that_is_no_attribute_is_refused(power, libraries, name):
    def by_reg_info():
        info = (
            CustomRegOp("power").input(0, "x").output(0, "y").attr(name, "required", "int", value=1)
        )
        info = info.dtype_format(DataType.None_None, DataType.None_None).target("CPU")
        Custom(libraries("elementwise").power, reg_info=info.get_op_info())

    for give in (
        lambda: power.add_prim_attr(name, 1),
        lambda: power.del_prim_attr(name),
        by_reg_info,
    ):
        with pytest.raises(opwright.Error, match=UNKNOWN[name]):
            give()


def test_an_operator_without_attributes_says_so(libraries):
    with pytest.raises(opwright.Error, match="square: no attribute is named k; there are none"):
        Custom(libraries("elementwise").square).add_prim_attr("k", 1)


class Layer(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, x):
        return self.op(x)


@pytest.mark.parametrize("mode", FORWARD)
def test_what_mindspore_sets_on_primitives_is_taken(power, mode):
    power.set_device("CPU").set_stage(0).recompute().shard(((1,),), ((1,),))
    power.init_prim_io_names(["x"], ["y"])
    power.set_prim_instance_name("power")
    power.add_prim_attr("side_effect_io", True).add_prim_attr("side_effect_io", False)
    power.del_prim_attr("stage")
    assert "stage" not in power.attrs
    assert power.primitive_target == "CPU"
    layer = Layer(power)
    layer.set_data_parallel()
    layer._mp_comm_recompute()
    layer._recompute_slice_activation()
    close(forward(layer, (X,), mode), wide(X) ** 2)


def test_a_cell_is_recomputed_with_its_operator(power):
    layer = Layer(power)
    layer.recompute()
    with mode_of("graph"):
        close(ms.grad(layer)(Tensor(np.ones(3))), np.full(3, 2.0))


def by_exponent(x, out, dout, exponent=1):
    return (dout * exponent * x ** (exponent - 1),)


@pytest.mark.parametrize("bprop", [None, by_exponent])
def test_each_call_of_a_recording_is_differentiated_by_its_own_attributes(libraries, bprop):
    op = Custom(libraries("elementwise").power, bprop=bprop)

    def loss(x):
        op.add_prim_attr("exponent", 2)
        first = op(x)
        op.add_prim_attr("exponent", 3)
        return first + op(x)

    for _ in range(2):
        close(ms.grad(loss)(X), 2 * wide(X) + 3 * wide(X) ** 2)


def test_bytecode_sees_an_attribute_that_is_set_anew(libraries):
    op = Custom(libraries("elementwise").power)

    @ms.jit(capture_mode="bytecode")
    def compiled(x):
        return op(x).sum()

    def inner(x):
        return op(x) * 1

    @ms.jit(capture_mode="bytecode")
    def broken(x):
        print("", end="")  # which no graph holds
        return inner(x).sum()

    x = Tensor(np.full(3, 2.0))
    for exponent in (2, 3, 2, 4):
        op.add_prim_attr("exponent", exponent)
        for each in (compiled, broken):
            close(each(x), 3 * 2.0**exponent)
            close(ms.grad(each)(x), np.full(3, exponent * 2.0 ** (exponent - 1)))
