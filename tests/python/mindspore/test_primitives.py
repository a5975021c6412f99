# SPDX-License-Identifier: Apache-2.0
"""MindSpore keeps what it knows of a primitive until the process ends: equal content is one."""

import pytest
from calls import draw
from mindspore import ops

from opwright.mindspore import Custom, _eager
from opwright.mindspore._bridge import mark_unique

X = draw(5)


def marks():
    """How many primitives there have been."""
    probe = ops.Primitive("probe")
    mark_unique(probe)
    return probe.attrs["opwright_uid"]


def test_attributes_that_come_again_make_no_primitive(libraries):
    power = libraries("elementwise").power
    scales = [k / 7 for k in range(1500)]
    for scale in scales:
        power(X, exponent=2, scale=scale)
    before = marks()
    for scale in scales:
        power(X, exponent=2, scale=scale)
    assert marks() == before + 1


@pytest.mark.parametrize("name", ["power", "square"])
def test_equal_customs_run_one_primitive(libraries, name):
    def make():
        op = Custom(
            libraries("elementwise")[name],
            lambda x: x,
            lambda x: x,
            "aot",
            lambda x, out, dout: (2 * dout,),
        )
        if name == "power":
            op.add_prim_attr("exponent", 2)
        return op

    first, second = make(), make()
    first(X), second(X)
    assert first._eager[1] is second._eager[1]


def test_other_content_is_another_primitive(libraries):
    power = libraries("elementwise").power
    made = []
    for exponent, bprop in ((2, None), (3, None), (2, lambda x, out, dout: (dout,))):
        op = Custom(power, bprop=bprop)
        op.add_prim_attr("exponent", exponent)
        op(X)
        made.append(op._eager[1])
    assert len(set(map(id, made))) == 3


def test_the_primitives_are_bounded(libraries, monkeypatch):
    monkeypatch.setattr(_eager, "_MOST", 10)
    _eager.forget_rules()
    for k in range(30):
        libraries("elementwise").power(X, exponent=2, scale=float(k))
    assert len(_eager._primitives) == 10
