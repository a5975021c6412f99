# SPDX-License-Identifier: Apache-2.0
"""Python rules without a framework: one belongs to the content, and so to every handle."""

import functools
import warnings

import numpy as np
import pytest

import opwright
from opwright import _bprop


@pytest.fixture
def op(plus, tmp_path):
    """An operator that no other test binds a rule to."""
    folder = plus(tmp_path / "op", 70)
    source = folder / "kernel.cpp"
    source.write_text(f'{source.read_text()}\nextern const char mark[] = "{tmp_path}";\n')
    return opwright.load(folder).element_add


def exact(x, y, out, dout):
    return dout, dout


def straight(x, y, out, dout):
    return dout, dout


def of_a_cell(module=__name__):
    """The rule of a notebook's cell, which is run again after an edit."""

    def rule(x, y, out, dout):
        return dout, dout

    rule.__module__ = module
    return rule


class Rule:
    def __call__(self, x, y, out, dout):
        return dout, dout


WORDS = "for every handle of this library in this process"


def bound(op, *rules) -> list[str]:
    """What is said while the rules are bound one after the other."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for rule in rules:
            op.bprop(rule)
    assert all(each.category is RuntimeWarning for each in seen)
    assert all(each.filename == __file__ for each in seen)
    return [str(each.message) for each in seen]


def test_another_rule_in_the_place_of_one_is_told_once_for_each_pair(op):
    again = opwright.load(op._core.library_path).element_add
    assert bound(op, exact, exact) == []
    assert bound(again, straight) == [f"element_add: the rule straight replaces exact {WORDS}"]
    assert op.python_bprop is straight
    assert bound(op, exact, straight, exact, straight) == [
        f"element_add: the rule exact replaces straight {WORDS}"
    ]


def test_an_edited_rule_of_the_same_name_is_bound_in_silence(op):
    assert bound(op, of_a_cell(), of_a_cell(), Rule(), Rule()) == [
        f"element_add: the rule Rule replaces rule {WORDS}"
    ]


def test_rules_of_one_name_are_told_apart_in_the_words(op):
    partial = functools.partial(exact)
    assert bound(op, of_a_cell("first"), of_a_cell("second")) == [
        "element_add: the rule second.of_a_cell.<locals>.rule replaces "
        f"first.of_a_cell.<locals>.rule {WORDS}"
    ]
    op.bprop(None)
    assert bound(op, exact, partial) == [], "a partial goes by its function's name"


def test_a_rule_is_taken_off_by_none(op):
    op.bprop(exact)
    assert op.bprop(None) is None
    assert op.python_bprop is None
    assert op.bprop(None) is None
    assert bound(op, straight) == [], "nothing was replaced"


def test_a_rule_of_another_operator_replaces_nothing(op, plus, tmp_path):
    other = opwright.load(plus(tmp_path / "other", 71)).element_add
    assert bound(op, exact) == bound(other, straight) == []


@pytest.mark.parametrize("framework", ["torch", "mindspore"])
def test_the_warning_of_a_frameworks_op_is_at_the_users_line(op, framework):
    module = pytest.importorskip(framework) and getattr(opwright, framework)
    op.bprop(exact)
    with pytest.warns(RuntimeWarning, match="straight replaces exact") as seen:
        module.op(op, bprop=straight)
    assert [each.filename for each in seen] == [__file__]
    assert module.op(op) is op and op.python_bprop is straight, "none given: none is taken off"
    assert op(np.float32([1]), np.float32([2])).shape == (1,)


def test_a_rule_has_lists_of_attributes_of_its_own():
    values = {"axes": [0, 1], "rows": [[1], [2]], "scale": 2.0}
    picked = _bprop.picked_attrs(values, ("axes", "rows"))
    picked["axes"].append(2)
    picked["rows"][0].clear()
    assert values == {"axes": [0, 1], "rows": [[1], [2]], "scale": 2.0}
