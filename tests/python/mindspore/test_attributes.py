# SPDX-License-Identifier: Apache-2.0
"""Attributes of every type, by keyword, by add_prim_attr and by reg_info."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor
from mindspore.ops import CustomRegOp, DataType
from modes import FORWARD, MODES, close, everywhere, forward, gradient

import opwright
from opwright.mindspore import Custom, _gradient

ONE = Tensor(np.ones(1), ms.float64)
REQUIRED = {"count": -3, "label": "four", "rows": [[1, 2], [], [5]]}
PLAIN = [-3, 4, 30005, 0.5, 1, 7, 3, 0.75, 21, 5, 4, 303]
GIVEN = {
    "ratio": 0.125,
    "flag": False,
    "kind": ms.bfloat16,
    "steps": (1, 2, 3),
    "weights": [1.0, 2.0],
    "names": ["a", "bcd", ""],
    "masks": [False, True],
    "mode": "",
    "table": [[7]],
}
ALL = [-3, 4, 30005, 0.125, 0, 8, 6, 3, 130, 1, 0, 7]


@pytest.mark.parametrize("mode", FORWARD)
def test_attributes_of_every_type_arrive_by_keyword(libraries, mode):
    tell = libraries("attributes").tell

    def plain(x):
        return tell(x, count=-3, label="four", rows=[[1, 2], [], [5]])

    def given(x):
        return tell(
            x,
            count=-3,
            label="four",
            rows=[[1, 2], [], [5]],
            ratio=0.125,
            flag=False,
            kind=ms.bfloat16,
            steps=(1, 2, 3),
            weights=[1.0, 2.0],
            names=["a", "bcd", ""],
            masks=[False, True],
            mode="",
            table=[[7]],
        )

    assert forward(plain, (ONE,), mode).asnumpy().tolist() == PLAIN
    assert forward(given, (ONE,), mode).asnumpy().tolist() == ALL


@pytest.mark.parametrize("mode", FORWARD)
def test_attributes_from_a_dictionary(libraries, mode):
    tell = libraries("attributes").tell
    attrs = {**REQUIRED, **GIVEN}

    def call(x):
        return tell(x, **attrs)

    assert forward(call, (ONE,), mode).asnumpy().tolist() == ALL


def add(op, attrs):
    for name, value in attrs.items():
        op.add_prim_attr(name, value)
    return op


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("given", [{}, GIVEN], ids=["defaults", "all"])
def test_attributes_of_every_type_arrive_by_add_prim_attr(built, mode, given):
    op = add(Custom(built("attributes") + ":tell", func_type="aot"), {**REQUIRED, **given})
    made = forward(op, (ONE,), mode).asnumpy().tolist()
    assert made == (ALL if given else PLAIN)


def registered(operator, inputs, outputs, attrs):
    """The registration of an operator in MindSpore's way."""
    info = CustomRegOp(operator)
    for k, name in enumerate(inputs):
        info = info.input(k, name)
    for k, name in enumerate(outputs):
        info = info.output(k, name)
    info = info.dtype_format(*[DataType.None_None] * (len(inputs) + len(outputs)))
    for name, kind, value in attrs:
        info = info.attr(name, "required", kind, value=value)
    return info.target("CPU").get_op_info()


@pytest.mark.parametrize("mode", MODES)
def test_attributes_of_reg_info(built, mode):
    info = registered("power", ["x"], ["y"], [("exponent", "int", 3), ("scale", "float", 0.5)])
    op = Custom(built("elementwise") + ":power", func_type="aot", reg_info=info)
    x = draw(4)

    def loss(x):
        return op(x).sum()

    close(forward(op, (x,), mode), 0.5 * wide(x) ** 3)
    close(gradient(loss, (x,), (0,), mode), 1.5 * wide(x) ** 2)


@pytest.mark.parametrize("mode", FORWARD)
def test_lists_of_reg_info(built, mode):
    attrs = [("count", "int", -3), ("label", "str", "four"), ("rows", "listListInt", [[1, 2], [5]]),
             ("steps", "listInt", [1, 2, 3]), ("weights", "listFloat", [1.0, 2.0]),
             ("flag", "bool", False), ("names", "listStr", ["abc"]),
             ("masks", "listBool", [True])]  # fmt: skip
    info = registered("tell", ["x"], ["y"], attrs)
    op = Custom(built("attributes") + ":tell", func_type="aot", reg_info=info)
    made = forward(op, (ONE,), mode).asnumpy().tolist()
    assert made == [-3, 4, 305, 0.5, 0, 7, 6, 3, 3, 1, 4, 303]


def test_attributes_reach_the_gradient(libraries, built):
    by_keyword = libraries("elementwise").power
    by_prim = add(
        Custom(built("elementwise") + ":power", func_type="aot"), {"exponent": 3, "scale": 0.5}
    )
    x = draw(4)

    def call(x):
        return by_keyword(x, exponent=3, scale=0.5)

    weights = np.arange(4) - 2.5
    for op in (call, by_prim):
        close(everywhere(op, (x,), (0,)).gradients, weights * 1.5 * wide(x) ** 2)


@pytest.mark.parametrize("mode", MODES)
def test_two_calls_with_other_attributes_are_two_operators(libraries, mode):
    op = libraries("elementwise").power
    x = draw(4)

    def both(x):
        return op(x, exponent=2) + op(x, exponent=3, scale=2.0)

    close(forward(both, (x,), mode), wide(x) ** 2 + 2 * wide(x) ** 3)

    def loss(x):
        return both(x).sum()

    close(gradient(loss, (x,), (0,), mode), 2 * wide(x) + 6 * wide(x) ** 2)


@pytest.mark.parametrize("mode", FORWARD)
def test_an_attribute_changed_after_a_call_is_the_new_one(built, mode):
    op = Custom(built("elementwise") + ":power", func_type="aot")
    x = draw(4)
    for exponent in (2, 3):
        op.add_prim_attr("exponent", exponent)
        close(forward(op, (x,), mode), wide(x) ** exponent)


WRONG = [
    {"count": True}, {"count": 1.5}, {"count": "1"}, {"ratio": "much"}, {"ratio": False},
    {"flag": 1}, {"label": 3}, {"steps": 3}, {"steps": [1, 2.5]}, {"steps": "12"},
    {"weights": ["a"]}, {"masks": [1]}, {"names": "ab"}, {"rows": [1]}, {"rows": [[1.5]]},
    {"count": np.True_}, {"ratio": np.True_},
]  # fmt: skip


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_attributes_of_another_type_are_refused_in_our_words(libraries, given):  # D09
    tell = libraries("attributes").tell
    (name,) = given
    attrs = {"count": 1, "label": "four", "rows": [[1]], **given}

    def call(x):
        return tell(x, **attrs)

    for mode in FORWARD:
        words = f"tell: attribute {name} is .* in the metadef, .* was given"
        with pytest.raises(opwright.DTypeError, match=words) as caught:
            forward(call, (ONE,), mode)
        assert caught.value.code == "CL006"


@pytest.mark.parametrize("given", WRONG, ids=str)
def test_attributes_of_another_type_are_refused_of_add_prim_attr_too(built, given):  # D09
    (name,) = given
    attrs = {"count": 1, "label": "four", "rows": [[1]], **given}
    for mode in FORWARD:
        words = f"tell: attribute {name} is .* in the metadef, .* was given"
        with pytest.raises(opwright.DTypeError, match=words):
            forward(
                add(Custom(built("attributes") + ":tell", func_type="aot"), attrs), (ONE,), mode
            )


@pytest.mark.parametrize("mode", FORWARD)
def test_missing_and_misspelt_attributes_are_refused(libraries, mode):
    tell = libraries("attributes").tell

    def missing(x):
        return tell(x, label="four", rows=[])

    def misspelt(x):
        return tell(x, count=1, label="", rows=[], ration=1.0)

    with pytest.raises(opwright.Error, match=r"tell: .*count"):
        forward(missing, (ONE,), mode)
    with pytest.raises(opwright.Error, match=r"ration.*did you mean ratio\?"):
        forward(misspelt, (ONE,), mode)


def test_numbers_of_numpy_are_attributes(libraries):
    made = libraries("attributes").tell(
        ONE,
        count=np.int32(2),
        label="",
        rows=np.array([[1, 2]]),
        ratio=np.float32(0.5),
        flag=np.False_,
        steps=range(4, 6),
        weights=[1, np.float32(0.5)],
        masks=np.array([True, False]),
    )
    made = made.asnumpy().tolist()
    assert made[:5] == [2, 0, 3, 0.5, 0] and made[6:8] == [9, 1.5] and made[9] == 2


@pytest.mark.parametrize("mode", MODES)
def test_a_tensor_for_an_attribute_is_refused(libraries, mode):
    """In a compiled graph its value is not known, and 0 or the default would be silent."""
    power = libraries("elementwise").power

    def scaled(x, k):
        return power(x, exponent=2, scale=k)

    with pytest.raises(opwright.DTypeError, match=r"attribute scale.*input of shape \[\].*CL006"):
        gradient(scaled, (draw(3), Tensor(2.0, ms.float64)), (0,), mode)


def test_the_gradient_is_derived_once_whatever_the_attributes(libraries, monkeypatch):
    made = []
    derive = _gradient.of_operator

    def counted(op, *given):
        made.append(op.name)
        return derive(op, *given)

    monkeypatch.setattr(_gradient, "of_operator", counted)
    op = Custom(libraries("elementwise").power)
    op.add_prim_attr("exponent", 2)
    op.add_prim_attr("scale", 0.5)
    x = draw(2, 3)
    assert not made
    close(gradient(lambda x: op(x).sum(), (x,)), wide(x))
    close(gradient(lambda x: op(x).sum(), (x,)), wide(x))
    assert made.count("power") == 1


def test_a_number_of_numpy_is_not_taken_for_another_of_its_text(libraries):
    made = []
    for value in (0.1, np.float16(0.1), np.float32(0.1), 0.1):
        custom = Custom(libraries("elementwise").power)
        custom.add_prim_attr("exponent", 1)
        custom.add_prim_attr("scale", value)
        made.append(custom(ONE).asnumpy()[0])
    assert made == [0.1, float(np.float16(0.1)), float(np.float32(0.1)), 0.1]


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("name", ["count", "rows"])
def test_a_number_beyond_64_bits_is_refused(libraries, name, mode):
    """MindSpore's compiler makes -2**63 of it without a word."""
    tell = libraries("attributes").tell

    def count(x):
        return tell(x, count=2**63, label="four", rows=[[1]])

    def rows(x):
        return tell(x, count=1, label="four", rows=[[1], [2**64]])

    with pytest.raises(opwright.DTypeError, match=rf"tell: attribute {name} is .*\[CL006\]"):
        forward({"count": count, "rows": rows}[name], (ONE,), mode)
