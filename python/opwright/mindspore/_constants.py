# SPDX-License-Identifier: Apache-2.0
"""What compiled modes leave to Python: with constants, which names of sizes are too, it is done
while they compile; with a tensor's name in it, be it for the shape, it is no part of a graph."""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Collection

from opwright.mindspore import _rule_source as source
from opwright.mindspore._tensors import Tensors

_NAME = "bind the sizes to a name first (sizes = x.shape) and give it that"
_CURES = {
    all: _NAME,
    any: _NAME,
    divmod: _NAME,
    set: _NAME,
    sorted: _NAME,
    reversed: "write the items in that order",
    type: "write isinstance",
}
_COPIES = (copy.copy, copy.deepcopy)
_NUMBERS = (bool, float, int)


def in_call(
    node: ast.Call, called, tensors: Tensors, own: Collection[str]
) -> tuple[str, str] | None:
    """called: what it calls. own: the names of the rule, whatever they are."""
    names = source.names_in(node)  # a comprehension's own too: MindSpore takes names for tensors
    if called is functools.reduce and not names.isdisjoint(own):
        return "calls reduce", "write a loop"
    if called is next:
        return "calls next", "take the item by its index"
    if _is_one_of(called, _COPIES) and any(map(tensors.are_in, node.args)):
        return f"copies a tensor by {called.__name__}", "take the tensor itself"
    taken = names & (tensors.names | tensors.lists)
    if _is_one_of(called, _CURES) and taken:
        return f"calls {called.__name__} with {min(taken)} in it", _CURES[called]
    return None


def _is_one_of(called, functions: Collection) -> bool:
    """A tensor, or an array, is equal to nothing as a whole."""
    return any(called is each for each in functions)


def elsewhere(node: ast.AST, tensors: Tensors) -> tuple[str, str] | None:
    """Of a text that is formatted, and of a branch."""
    match node:
        case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
            if taken := source.names_in(right) & tensors.names:
                return f"formats a text by % with {min(taken)} in it", "write an f-string"
        case (
            ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test)
        ):
            if _is_number(_asked_first(test), tensors):
                return (
                    "goes by a Python number that a tensor's values make",
                    "test the tensor itself, as in x.sum() > 0",
                )
    return None


def _asked_first(test: ast.expr) -> ast.expr:
    """What follows in a condition may not be asked."""
    match test:
        case ast.BoolOp(values=[first, *_]) | ast.UnaryOp(op=ast.Not(), operand=first):
            return _asked_first(first)
    return test


def _is_number(node: ast.expr, tensors: Tensors, names: frozenset[str] = frozenset()) -> bool:
    """Whether it is one that the values of a tensor make. names: those that are, if this is."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="item"), args=[]):
            return not source.names_in(value).isdisjoint(tensors.names)
        case ast.Call(func=ast.Name(), args=[value]):
            called = source.meant(tensors.scope, node.func)
            of_values = tensors.sure(value) or tensors.by_values(value)
            return _is_one_of(called, _NUMBERS) and of_values
        case ast.Name(id=name):
            if name in names:
                return True
            # What it is made of again says nothing: n = n - 1.
            values = [
                each for each in tensors.bindings.get(name, ()) if source.names_in(each) != {name}
            ]
            return (
                name not in tensors.parameters
                and bool(values)
                and all(_is_number(each, tensors, names | {name}) for each in values)
            )
        case ast.UnaryOp(operand=operand):
            return _is_number(operand, tensors, names)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case _:
            return False
    made = [each for each in parts if not isinstance(each, ast.Constant)]
    return bool(made) and all(_is_number(each, tensors, names) for each in made)
