# SPDX-License-Identifier: Apache-2.0
"""Branches by the values of tensors: PyNative mode takes one, compiled modes join what they bind
and return, which has to be of one kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from opwright.mindspore import _rule_source as source
from opwright.mindspore._compiled import compiled
from opwright.mindspore._tensors import Tensors

_TENSOR, _LIST, _NOTHING = "a tensor", "a list of tensors", "nothing"
_CURES = {
    _NOTHING: "bind it before as well",
    _TENSOR: "make it a tensor in each, as ops.zeros_like(x) is one",
    _LIST: "write tuples in each",
}


def unlike(tree: ast.AST, tensors: Tensors) -> tuple[str, str] | None:
    """What is joined and is not of one kind, at which line, and what to write instead."""
    sure = list(compiled(tree, tensors))
    for node in sure:
        if isinstance(node, ast.IfExp) and tensors.by_values(node.test):
            kinds = {_kind(node.body, tensors), _kind(node.orelse, tensors)}
            if found := _words("chooses", kinds, node.lineno):
                return found
    definition = source.definition_of(tree)
    if not isinstance(definition, ast.FunctionDef):
        return None
    body = definition.body
    for k, statement in enumerate(body):
        if isinstance(statement, ast.If) and statement in sure and not source.may_leave(statement):
            for name in sorted(source.bound_names(source.nodes_of(statement))):
                before = {None if name in tensors.parameters else _NOTHING}
                kinds = _after(body[: k + 1], name, before, tensors)
                found = _words(f"binds {name} to", kinds, statement.lineno)
                if found and _is_used(name, body[k + 1 :], sure):
                    return found
    returned = list(_returned(body, tensors))
    for column in zip(*(each.elts for each in returned), strict=False):
        kinds = {_kind(each, tensors) for each in column}
        if len(returned) > 1 and (found := _words("returns", kinds, returned[0].lineno)):
            return found
    return None


def _words(verb: str, kinds: set[str | None], line: int) -> tuple[str, str] | None:
    known = kinds - {None}
    if len(known) < 2 and known != {_LIST}:
        return None
    cures = [cure for kind, cure in _CURES.items() if kind in known]
    what = " or ".join(sorted(known, key=lambda kind: (kind != _TENSOR, kind)))
    return f"{verb} {what} by a tensor's values at line {line}", [*cures, "give it one kind"][0]


def _kind(value: ast.expr, tensors: Tensors) -> str | None:
    """None where that is not sure."""
    match value:
        case ast.Constant(value=None):
            return "None"
        case ast.Constant(value=int() | float()):
            return "a number"
        case ast.Tuple() if tensors.are_in(value):
            return "a tuple of tensors"
        case ast.List() if tensors.are_in(value):
            return _LIST
    return _TENSOR if tensors.sure(value) else None


def _after(
    body: list[ast.stmt], name: str, kinds: set[str | None], tensors: Tensors
) -> set[str | None]:
    """What a name may be after the statements. kinds: before them."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                kinds = {_kind(value, tensors)}
            case ast.AugAssign(target=ast.Name(id=target), value=value) if target == name:
                kinds = {_TENSOR if tensors.sure(value) else None}
            case ast.If(test=test, body=then, orelse=other) if tensors.by_values(test):
                joined = [
                    _after(side, name, kinds, tensors)
                    for side in (then, other)
                    if not any(map(source.may_leave, side))
                ]
                kinds = set().union(*joined) or {None}
            case _ if name in source.bound_names(source.nodes_of(statement)):
                kinds = {None}
    return kinds


def _is_used(name: str, body: list[ast.stmt], sure: list[ast.AST]) -> bool:
    """Whether the statements take a name for sure before they bind it."""
    for statement in body:
        named = [n for n in source.nodes_of(statement) if isinstance(n, ast.Name) and n.id == name]
        bound = any(isinstance(each.ctx, ast.Store) for each in named)
        if bound and hasattr(statement, "body"):
            return False
        if any(isinstance(each.ctx, ast.Load) and each in sure for each in named):
            return True
        if bound:
            return False
    return False


def _returned(body: list[ast.stmt], tensors: Tensors) -> Iterator[ast.Tuple]:
    """The tuples of which values of tensors say which is returned."""
    for statement in body:
        match statement:
            case ast.Return(value=ast.Tuple() as value):
                yield value
            case ast.If(test=test, body=then, orelse=other) if tensors.by_values(test):
                yield from _returned(then, tensors)
                yield from _returned(other, tensors)
                continue
        if source.may_leave(statement):
            return
