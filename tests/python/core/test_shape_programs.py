# SPDX-License-Identifier: Apache-2.0
"""Shape rules have two programs, src/runtime/shape.cc and, for tracers, opwright._shape_program: on
plain numbers they give the same shapes and refuse with the same words."""

import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import opwright
from opwright import _core
from opwright._definition import Definition
from opwright._shape_program import ShapeProgram

SOURCE = """#include <opwright/kernel.h>
class ShapelessKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    return opwright::SUCCESS;
  }
};
"""
INPUTS = [
    ("x", ["m", "n"], "required"),
    ("w", [-2], "required"),
    ("y", ["k", -1], "optional"),
    ("z", ["...", "r"], "optional"),
    ("v", ["...", 2, "n"], "optional"),
]
OUTPUTS = ("p", "q")


LISTS = ([-2], [-1], ["m", -1], ["...", "n"], [-1, "s"], ["s", "m"], ["...", 2], [3, "k"])
ANY = ([-2], [-2])


def metadef(name, rules, lists=ANY):
    def param(name, shape, kind):
        return {"name": name, "dtype": ["float32"], "shape": shape, "param_type": kind}

    ints = [
        {"name": attr, "type": "int", "param_type": "optional", "default_value": 1}
        for attr in ("a", "b")
    ]
    return {
        "op_name": name,
        "input_desc": [param(*each) for each in INPUTS],
        "output_desc": [
            param(each, shape, "required") for each, shape in zip(OUTPUTS, lists, strict=True)
        ],
        "attr": ints,
        "shape_rule": dict(zip(OUTPUTS, rules, strict=True)),
    }


leaves = st.one_of(
    st.sampled_from(["m", "n", "k", "r", "a", "b", "x.rank", "w.rank", "y.rank"]),
    st.sampled_from(["x.dim(0)", "x.dim(1)", "w.dim(0)", "w.dim(1)", "w.dim(-1)", "y.dim(1)"]),
    st.integers(0, 5).map(str),
    st.sampled_from([str(2**31), str(2**62), str(2**63 - 1)]),
)


def larger(inner):
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner).map(
            lambda e: f"({e[0]} {e[1]} {e[2]})"
        ),
        st.tuples(st.sampled_from(["min", "max", "ceil_div"]), inner, inner).map(
            lambda e: f"{e[0]}({e[1]}, {e[2]})"
        ),
        inner.map(lambda e: f"(-{e})"),
    )


dims = st.lists(st.recursive(leaves, larger, max_leaves=5), max_size=3)
rules = st.one_of(
    dims,
    dims.map(lambda each: ["...", *each]),
    st.sampled_from(
        ["same(x)", "same(x, w)", "same(y, z)", "broadcast(x, w)", "broadcast(y, z, w)"]
    ),
)
sizes = st.one_of(st.integers(0, 4), st.integers(1, 2))


def shapes(rank):
    return st.lists(sizes, min_size=rank, max_size=rank).map(tuple)


any_shape = st.integers(0, 4).flatmap(shapes)
calls = st.fixed_dictionaries(
    {
        "x": shapes(2),
        "w": any_shape,
        "y": st.none() | shapes(2),
        "z": st.none() | any_shape,
        "v": st.none() | any_shape,
    }
).map(lambda call: call if call["v"] is None else {**call, "v": (*call["v"], 2, call["x"][1])})
numbers = st.one_of(
    st.integers(-3, 5),
    st.sampled_from([2**31, 2**62, 2**63 - 1, -(2**63 - 1), -(2**63)]),
)


@pytest.fixture(scope="module")
def bind(tmp_path_factory):
    """bind(rules): the core operator of a metadef with these rules."""
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "kernel.cpp").write_text(SOURCE)
    (folder / "op.json").write_text(json.dumps(metadef("shapeless", ["same(x)"] * 2)))
    _core.acl.load(opwright.build(folder))
    count = itertools.count()
    bound = []

    def make(rules, lists):
        for name in bound:
            _core.acl.unregister(name)
        bound.clear()
        name = f"shapes_{next(count)}"
        (folder / "model.json").write_text(json.dumps(metadef(name, rules, lists)))
        _core.acl.register(name)
        bound.append(name)
        _core.acl.model(name, str(folder / "model.json"), "shapeless")
        return _core.acl.find(name)

    return make


def by_core(core, shapes, attrs):
    arrays = [None if s is None else np.broadcast_to(np.float32(0), s) for s in shapes.values()]
    return [tuple(shape) for shape, _ in core.infer_numpy(tuple(arrays), attrs)]


def by_python(core, shapes, attrs):
    definition = Definition.of(core)
    program = ShapeProgram(
        definition,
        [[] if shape is None else [shape] for shape in shapes.values()],
        {attr.name: attrs.get(attr.name, attr.default) for attr in definition.attrs},
        broadcast=None,
    )
    return [program.output(index) for index in range(len(OUTPUTS))]


def outcome(way, *arguments):
    """The shapes, or the words and the id of what refuses them."""
    try:
        return way(*arguments)
    except opwright.ShapeError as error:
        return error.code, str(error)


def compare(bind, rules, shapes, attrs, lists=ANY):
    shapes = {name: shapes[name] for name, _, _ in INPUTS}
    core = bind(rules, lists)
    want = outcome(by_core, core, shapes, attrs)
    assert outcome(by_python, core, shapes, attrs) == want
    return want


@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rules=st.tuples(rules, rules),
    lists=st.just(ANY) | st.tuples(st.sampled_from(LISTS), st.sampled_from(LISTS)),
    shapes=calls,
    a=numbers,
    b=numbers,
)
def test_both_programs_say_the_same(bind, rules, lists, shapes, a, b):
    try:
        want = compare(bind, rules, shapes, {"a": a, "b": b}, lists)
    except opwright.RegistryError as error:  # a rule that is wrong for every call
        assert error.code == "RG004" and "MD0" in str(error)
        event("no metadef")
        return
    event(want[0] if isinstance(want, tuple) else "shapes")


GOOD = {"x": (2, 3), "w": (4,), "y": None, "z": None, "v": None}
BIG = 2**62


@pytest.mark.parametrize(
    ("rule", "change", "code", "words"),
    [
        (["k"], {}, "CL005", "k is not known: the input that has it is absent"),
        (["y.dim(0)"], {}, "CL005", "input y is absent"),
        (["w.dim(2)"], {}, "CL005", r"w.dim\(2\) of shape \[4\]"),
        (["m // (n - 3)"], {}, "CL005", "division of 2 by 0"),
        (["m % (n - 3)"], {}, "CL005", "division of 2 by 0"),
        (["ceil_div(m, n - 3)"], {}, "CL005", "division of 2 by 0"),
        (["a // b"], {"a": -(2**63), "b": -1}, "CL005", "division of -9223372036854775808 by -1"),
        (["a * b"], {"a": BIG, "b": 2}, "CL005", f"overflow with {BIG} and 2"),
        (["a + b"], {"a": BIG, "b": BIG}, "CL005", f"overflow with {BIG} and {BIG}"),
        (["a - b"], {"a": -BIG, "b": BIG + 1}, "CL005", "overflow with"),
        (["-a"], {"a": -(2**63)}, "CL005", "overflow with -9223372036854775808"),
        (["m - n"], {}, "CL005", "dimension 0 would be -1"),
        (["a", "a"], {"a": 2**40}, "CL005", "no memory holds the shape"),
        ("same(y, z)", {}, "CL005", "none of its inputs was given"),
        ("broadcast(y, z)", {}, "CL005", "none of its inputs was given"),
        ("same(x, w)", {}, "CL005", "must have equal shapes"),
        ("broadcast(x, w)", {}, "CL005", "does not broadcast with"),
        (["m"], {"x": (2,)}, "CL004", "rank 2 expected, got 1"),
        (["m"], {"v": (2, 4)}, "CL004", r"dimension 1 is n = 3 \(from x\), got 4"),
        (["m"], {"v": (3, 3)}, "CL004", "dimension 0 must be 2, got 3"),
        (["m"], {"z": ()}, "CL004", "rank at least 1 expected, got 0"),
    ],
)
def test_what_no_rule_can_answer_is_refused_by_both(bind, rule, change, code, words):
    shapes = {name: change.get(name, shape) for name, shape in GOOD.items()}
    attrs = {name: value for name, value in change.items() if name in ("a", "b")}
    found, said = compare(bind, (rule, "same(x)"), shapes, attrs)
    assert found == code
    with pytest.raises(opwright.ShapeError, match=words):
        raise opwright.ShapeError(said)


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        (([-1], [-2]), r"is \[2, 3\], its shape list says \[-1\]; \[-1\] is rank 1"),
        ((["m", 4], [-2]), r'is \[2, 3\], its shape list says \["m", 4\]'),
        (([-1, "s"], ["s", -1]), r'output q by .* is \[2, 3\], its shape list says \["s", -1\]'),
        ((["...", "m"], [-2]), r'its shape list says \["...", "m"\]'),
    ],
)
def test_what_an_outputs_list_does_not_allow_is_refused_by_both(bind, lists, words):
    code, said = compare(bind, ("broadcast(x)", "broadcast(x)"), GOOD, {}, lists)
    assert code == "CL022" and re.search(words, said), said


LISTING = """#include <opwright/kernel.h>
void Listing(opwright::ViewList<const float>, opwright::View<const float>, opwright::View<float>) {}
OPWRIGHT_FUNCTION(listing, Listing)
"""


@pytest.mark.parametrize(
    "rule", [["k"], ["1", "k + 1"], ["...", 3], "same(xs)", "same(xs, w)", "broadcast(xs)"]
)
def test_an_empty_list_is_named_by_both(tmp_path, rule):
    def param(name, shape, kind="required"):
        return {"name": name, "dtype": ["float32"], "shape": shape, "param_type": kind}

    inputs = [param("xs", ["...", "k"], "dynamic"), param("w", [-2], "optional")]
    text = {"op_name": "listing", "input_desc": inputs, "output_desc": [param("y", [-2])]}
    (tmp_path / "op.json").write_text(json.dumps({**text, "shape_rule": rule}))
    (tmp_path / "kernel.cpp").write_text(LISTING)
    op = opwright.load(tmp_path).listing
    words = r"^listing: the list xs is empty, one tensor or more are due \[CL001\]$"
    with pytest.raises(opwright.ShapeError, match=words):
        op([])
    program = ShapeProgram(op.definition, [[], []], {}, broadcast=None)
    with pytest.raises(opwright.ShapeError, match=words):
        program.output(0)


def test_a_rule_is_on_one_line_in_words(tmp_path):
    text = metadef("lines", (["m", "n - 3"], ["m", "(m + n) * 2", 4]))
    text["output_desc"][1]["shape"] = [-1, -1, 4]
    (tmp_path / "op.json").write_text(json.dumps(text, indent=2))
    (tmp_path / "kernel.cpp").write_text(SOURCE.replace("Shapeless", "Lines"))
    definition = opwright.load(tmp_path).lines.definition
    texts = [rule.text for rule in definition.shape_rules]
    assert texts == ['["m", "n - 3"]', '["m", "(m + n) * 2", 4]']


def test_dots_of_an_absent_input_stand_for_nothing(tmp_path):
    def param(name, shape, kind="required"):
        return {"name": name, "dtype": ["float32"], "shape": shape, "param_type": kind}

    inputs = [param("x", ["n"]), param("z", ["...", "k"], "optional")]
    text = {"op_name": "dotted", "input_desc": inputs, "output_desc": [param("y", [-2])]}
    (tmp_path / "op.json").write_text(json.dumps({**text, "shape_rule": ["...", "n"]}))
    (tmp_path / "kernel.cpp").write_text(SOURCE.replace("Shapeless", "Dotted"))
    op = opwright.load(tmp_path).dotted
    words = r'"\.\.\." stands for nothing: no input given has it'
    with pytest.raises(opwright.ShapeError, match=words):
        op(np.ones(3, np.float32))
    program = ShapeProgram(op.definition, [[(3,)], []], {}, broadcast=None)
    with pytest.raises(opwright.ShapeError, match=words):
        program.output(0)
