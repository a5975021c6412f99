# SPDX-License-Identifier: Apache-2.0
"""A library rebuilt under its own name; operators used from several threads."""

import copy
import pickle
import threading

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor
from misuse import FOREIGN, first
from modes import FORWARD, Net, close, everywhere, forward, gradient, mode_of
from operator_libraries import write_operator
from operators import GROW, GROW_SOURCE

import opwright
from opwright.mindspore import Custom


def grown(folder, out, factor):
    """The library of y = factor * x, under one name whatever the factor is."""
    write_operator(folder, GROW, GROW_SOURCE.replace("FACTOR", str(factor)))
    return opwright.build(folder, out)


def rule(x, out, dout):
    return (dout * 7,)


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("form", ["load", "op", "Custom", "Custom declared", "folder"])
def test_a_new_handle_runs_the_new_code(tmp_path, form, mode):  # L08
    folder, out = tmp_path / "grow", tmp_path / "libgrow.so"

    def handle():
        return {
            "load": lambda: opwright.load(out).grow,
            "op": lambda: opwright.mindspore.op(str(out)),
            "Custom": lambda: Custom(f"{out}:grow", func_type="aot"),
            "Custom declared": lambda: Custom(f"{out}:grow", lambda s: s, lambda d: d, "aot", rule),
            "folder": lambda: Custom(str(folder), func_type="aot"),
        }[form]()

    x = draw(2, 3, dtype=ms.float32)
    handles = []
    for factor in (2, 3, 2):
        grown(folder, out, factor)
        handles.append((factor, handle()))
        for known, op in handles:
            close(forward(op, (x,), mode), known * wide(x), 1e-6)


@pytest.mark.parametrize("mode", ["pynative", "graph"])
def test_a_network_made_before_keeps_its_code_and_a_new_one_has_the_new(tmp_path, mode):  # L08
    folder, out = tmp_path / "grow", tmp_path / "libgrow.so"
    x = draw(2, 3, dtype=ms.float32)
    with mode_of(mode):
        grown(folder, out, 2)
        before = Net(Custom(f"{out}:grow", func_type="aot"))
        close(before(x), 2 * wide(x), 1e-6)
        grown(folder, out, 3)
        after = Net(Custom(f"{out}:grow", func_type="aot"))
        close(before(x), 2 * wide(x), 1e-6)
        close(after(x), 3 * wide(x), 1e-6)
        # Another shape makes MindSpore look again.
        y = draw(5, dtype=ms.float32)
        close(before(y), 2 * wide(y), 1e-6)
        close(after(y), 3 * wide(y), 1e-6)


@pytest.mark.parametrize("mode", ["pynative", "jit", "graph"])
def test_a_rebuilt_backward_operator_is_the_new_one(tmp_path, mode):  # L08
    backward = {
        "op_name": "grow_grad",
        "input_desc": [{"name": "grad_y", "dtype": ["float32"], "shape": [-2]}],
        "output_desc": [{"name": "grad_x", "dtype": ["float32"], "shape": [-2]}],
        "shape_rule": "same(grad_y)",
    }
    source = GROW_SOURCE + GROW_SOURCE[GROW_SOURCE.index("void Grow") :].replace(
        "Grow", "GrowGrad"
    ).replace("(grow,", "(grow_grad,")
    x = draw(3, dtype=ms.float32)
    for factor in (2, 3):
        folder = write_operator(
            tmp_path / "grow",
            [{**GROW, "gradient": "grow_grad"}, backward],
            source.replace("FACTOR", str(factor)),
        )
        op = Custom(opwright.build(folder, tmp_path / "libgrow.so") + ":grow", func_type="aot")
        close(gradient(loss_of(op), (x,), None, mode), np.full(3, factor))


def loss_of(op):
    def loss(x):
        return op(x).sum()

    return loss


def test_a_library_loaded_twice_is_one(built):
    one, two = opwright.load(built("elementwise")), opwright.load(built("elementwise"))
    x = draw(3)
    close(everywhere(one.square, (x,)).values, wide(x) ** 2)
    close(everywhere(two.square, (x,)).values, wide(x) ** 2)


def in_threads(count, work):
    """Runs work(k) in threads of their own, all started at once; raises what one raised."""
    gate, errors = threading.Barrier(count), []

    def run(k):
        try:
            gate.wait()
            work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_values_from_several_threads(libraries):  # R13
    op, power = libraries("fused_add_scale").fused_add_scale, libraries("elementwise").power
    b, s = draw(4), draw(4)

    def work(k):
        x = Tensor(np.full((k + 1, 4), k + 1.0))
        for n in range(20):
            close(op(x, b, s), (wide(x) + wide(b)) * wide(s))
            close(power(x, exponent=n % 3 + 1), wide(x) ** (n % 3 + 1))

    in_threads(4, work)


# MindSpore itself fails where two threads differentiate, or call what is compiled, at once.
turn = threading.Lock()


def test_gradients_from_two_threads_in_turns(libraries):  # R13
    op = libraries("elementwise").square

    def loss(x):
        return (op(x) * op(x)).sum()

    def work(k):
        x = Tensor(np.full((k + 2,), k + 1.0))
        for _ in range(10):
            with turn:
                close(ms.grad(loss)(x), 4 * wide(x) ** 3)

    in_threads(2, work)


def test_operators_made_in_threads(built):  # R13
    path = built("elementwise")

    def work(k):
        op = Custom(f"{path}:power", func_type="aot")
        op.add_prim_attr("exponent", k + 1)
        x = draw(3)
        close(op(x), wide(x) ** (k + 1))

    in_threads(4, work)


def test_compiled_functions_called_from_two_threads_in_turns(libraries):  # R13
    op = libraries("elementwise").square

    def double(x):
        return op(x) + op(x)

    compiled = ms.jit(double)
    x = draw(3)
    close(compiled(x), 2 * wide(x) ** 2)

    def work(k):
        y = Tensor(np.full((3,), k + 1.0))
        for _ in range(10):
            with turn:
                close(compiled(y), 2 * wide(y) ** 2)

    in_threads(2, work)


def test_calls_before_a_close_are_done(built):
    """PyNative mode runs them later than they are called."""
    x = draw(3)
    for _ in range(50):
        with opwright.load(built("fused_broadcast")) as library:
            made = library.fused_broadcast(x, x, x)
        close(made, 2 * wide(x) ** 2)


def test_a_copy_of_a_custom_is_of_the_same_content(tmp_path):
    path = tmp_path / "libgrow.so"
    grown(tmp_path / "a", path, 2)
    op = Custom(f"{path}:grow", func_type="aot")
    x = draw(3, dtype=ms.float32)
    due = wide(op(x))
    grown(tmp_path / "b", path, 3)
    close(copy.deepcopy(op)(x), due, 1e-6)
    close(Custom(f"{path}:grow", func_type="aot")(x), due * 3 / 2, 1e-6)
    close(pickle.loads(pickle.dumps(op))(x), due, 1e-6)  # that content is loaded here


def test_a_source_is_built_again_when_its_header_changes(tmp_path):
    source, header = tmp_path / "times.cc", tmp_path / "factor.h"
    source.write_text(f'#include "factor.h"\n{FOREIGN.replace("= 2 *", "= FACTOR *")}')
    for factor in (2, 7):
        header.write_text(f"#define FACTOR {factor}\n")
        op = Custom(f"{source}:twice", first, first, "aot")
        assert op(Tensor(np.ones(3, np.float32))).asnumpy().tolist() == [factor] * 3
