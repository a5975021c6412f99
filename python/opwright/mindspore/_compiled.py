# SPDX-License-Identifier: Apache-2.0
"""What of a rule is in its graph for sure, whatever side a graph takes of a branch."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opwright.mindspore import _rule_source as source
from opwright.mindspore._tensors import Tensors


def compiled(tree: ast.AST, tensors: Tensors) -> Iterator[ast.AST]:
    """The nodes of a function that are, but for what has names of its own."""
    definition = source.definition_of(tree)
    if isinstance(definition, ast.Lambda):
        yield from _part(definition.body, tensors)
    elif isinstance(definition, ast.FunctionDef):
        yield from _in_turn(definition.body, tensors)


def _in_turn(statements: list[ast.stmt], tensors: Tensors) -> Iterator[ast.AST]:
    for statement in statements:
        yield from _part(statement, tensors)
        if _is_open(statement, tensors) and source.may_leave(statement):
            return


def _part(node: ast.AST, tensors: Tensors) -> Iterator[ast.AST]:
    if isinstance(node, source.SCOPES):
        return
    yield node
    match node:
        case ast.Return(value=ast.Dict()):  # which the verdict on the answer names
            children = ()
        case ast.If(test=test) | ast.IfExp(test=test) if _is_open(node, tensors):
            children = (test,)
        case ast.BoolOp(values=[first, *_]):
            children = (first,)
        case ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.GeneratorExp():
            children = (node.generators[0].iter,)
        case _:
            children = [value for _, value in ast.iter_fields(node)]
    for each in children:
        if isinstance(each, ast.AST):
            yield from _part(each, tensors)
        elif isinstance(each, list):
            yield from _in_turn([one for one in each if isinstance(one, ast.AST)], tensors)


def _is_open(node: ast.AST, tensors: Tensors) -> bool:
    """Whether it is a branch of which a graph takes one side: it goes by no values of tensors."""
    return isinstance(node, (ast.If, ast.IfExp)) and not tensors.by_values(node.test)
